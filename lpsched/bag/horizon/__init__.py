"""Bags over a horizon of hours: tariffs, carbon, power caps over time, sites; plans, their bounds and their proofs."""
