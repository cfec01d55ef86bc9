"""Thesis, figure G.1: six dropping thresholds for the policies of chapter 2, 33,000 tasks a day."""

from scripts.figures.shared.dropped_shares import draw_thresholds

PRINTED = """Printed: all earn a larger share than at 50,000 tasks, and batch mode gains less from dropping.
Mapping events took 10 ms (Min-Min Comp) to 64 ms (Max-Max UPT) at 0.5 in print (table G.1)."""

if __name__ == "__main__":
    draw_thresholds(__doc__, "thesis-g-1", 33_000, PRINTED)
