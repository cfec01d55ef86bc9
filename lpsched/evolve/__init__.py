"""Allocations and fronts by evolution: the genetic algorithm of a facility, NSGA-II for bags and days."""
