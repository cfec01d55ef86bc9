"""Tables for people. Reads results, never solves."""
