"""Verifiers of schedules of days and of clusters, by plain loops and exact sums."""
