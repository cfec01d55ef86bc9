"""The loops that map tasks at an event: best pair first, one task after another, by sufferage. Compiled.

    i, c, m     task type, column, machine; b is a waiting task, by its place in the state
    start, end  of b on the machine m of column c: ready_m, and ready_m + seconds_ic
    fits        c may be used by i, its machine starts before the day ends, and the joules that count today,
                joules_ic times the share of the run before the day's end, are within what is left of the
                day's energy after what this event mapped already
    score       weight U(end) / per_ic / scale - cost_ic, or minus the end: see `simulate/choosing.py`
    needed      a machine whose next task would get unmovable by `until`, if a task that waits can run there

Of the machines of one type only the one that is ready first, of several the lowest, is looked at: it serves
every task best. A heap for each type finds it.

No score rises as machines get busier and energy gets less. So an old score is an upper bound, and tasks are
looked at again only as they come to the top of a heap. A first upper bound needs one exponential for a task:
the utility at the earliest end of all, over the least `per`, minus the least cost. There is one exception: a
run that would have taken too much energy may fit if it begins later, when less of it is within the day. When
this happens all bounds are made anew.

A loop may stop when no machine is needed any more: all it could still decide will be decided anew by the
next event. The order in which equals are taken: see `online/policies.py`.
"""
