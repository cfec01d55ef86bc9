"""Facilities limited by power and heat: the most reward per second under a power cap and redlines."""
