"""Bags of tasks: the energy/makespan front, and the most profit per time."""
