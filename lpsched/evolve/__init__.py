"""Allocations by evolution: the genetic algorithm of a facility."""
