"""From fractions to machines: every function takes values and returns values."""
