"""Uncertain times and powers: what a schedule takes if tasks do not take what the tables say."""
