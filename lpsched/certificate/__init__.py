"""The proof: bounds re-derived in exact arithmetic from prices alone. No solver, no NumPy."""
