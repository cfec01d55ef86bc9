"""One relaxation per file: `compile_lp` goes forward, `read_solution` comes back."""
