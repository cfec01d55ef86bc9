"""The loops over the free time of clusters' nodes, and the greedy mapping of parallel tasks. Compiled.

heaps.py      heaps, sorting and searching
openings.py   which nodes are free when; the earliest start; taking nodes and giving them back
choosing.py   which of the free nodes a task takes
present.py    what the greedy loop sees, and what changes while it maps
board.py      earliest starts and energy with what has been placed
greedy.py     the loop: the task of the highest objective first
"""
