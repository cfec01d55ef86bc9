"""Policies: one small file each, found by name in `registry.py`.

Whom of several equals they take: of a task's choices the earliest end, then the lowest column; of tasks the
lowest number; of the machines of one type the one that is ready first, then the lowest number. A task that
fits nowhere waits. `docs/policies.md` says what else the sources leave open.
"""
