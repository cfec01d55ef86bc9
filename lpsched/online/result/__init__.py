"""Answers about days and clusters."""
