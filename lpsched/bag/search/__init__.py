"""Loops of linear programs: every corner of a front or of a price curve. A solver is passed in."""
