"""Linear programs and their solvers. Knows no scheduling words."""
