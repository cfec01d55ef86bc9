"""Certificates of days and clusters: checked in whole numbers, from prices alone."""
