"""Bounds on what any schedule of arriving tasks can earn, by prices of machine time and energy."""
