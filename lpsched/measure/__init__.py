"""The bench for times, powers and co-location: runs applications on this machine and measures them.

plan       which settings a bench asks for                                session.py
stage      one run of a setting: pinned, metered, killed                  machine.py, corun.py, supervisor.py, meters/
run        all settings, in random order, resumable                       session.py, files.py
model      spreads, classes, degradation, static power                    summary.py
join       measurements of several machines, one instance                 bags.py, facilities.py
"""
