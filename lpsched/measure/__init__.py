"""The bench for times, powers and co-location: runs applications on this machine and measures them.

plan       which settings a bench asks for                  plan.py
stage      one run of a setting: pinned, metered, killed    backend.py, machine.py, corun.py, meters/
run        all settings, in random order, resumable         running.py
model      spreads, classes, degradation, static power      summary.py and its parts
join       measurements of several machines, one instance   bags.py, facilities.py, facilities.py

`session.py` calls the first four in this order.
"""
