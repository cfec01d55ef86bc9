"""Declared studies: every combination of instances, methods, parameters and seeds is one run."""
