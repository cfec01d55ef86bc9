"""The outlet temperatures: what is best at fixed ones, bounds within boxes of them, and the search."""
