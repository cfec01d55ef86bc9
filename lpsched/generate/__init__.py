"""Seeded makers of instances."""
