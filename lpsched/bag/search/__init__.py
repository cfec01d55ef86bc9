"""Loops of linear programs: every vertex of a front or of a price curve. A solver is passed in."""
