"""Certificates of bags: bounds derived again in exact arithmetic from prices alone. No solver, no NumPy."""
