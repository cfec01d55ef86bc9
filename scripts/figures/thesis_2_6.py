"""Thesis, figure 2.6: six dropping thresholds for the policies of chapter 2, 50,000 tasks a day."""

from scripts.figures.shared.dropped_shares import draw_thresholds

PRINTED = """Printed: almost all rise from 0 to 1.5 and fall beyond; Max Util and Max UPT improve by about
450 % from 0 to 1.5, which is 5.5 times as much, up to what batch mode earns; policies by MET earn less than
others there. Events took 47 ms (Min-Min Comp) to 320 ms (Max-Max UPT) at 0.5."""

if __name__ == "__main__":
    draw_thresholds(__doc__, "thesis-2-6", 50_000, PRINTED)
