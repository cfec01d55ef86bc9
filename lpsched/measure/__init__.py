"""The bench for times, powers and co-location: runs applications on this machine and measures them.

plan       which settings a bench asks for, and all of them run in random order, resumable    plan.py
stage      one run of a setting: pinned, metered, killed      machine.py, corun.py, supervisor.py, meters/
model      spreads, classes, degradation, static power        summary.py
join       measurements of several machines, one instance     bags.py, facilities.py

`session.py` calls the first three in this order.
"""
