"""Other schedulers against the bound: what they found or wrote is checked, measured, and judged.

Import what is needed from its own file: the paper's methods load a compiler.
"""
