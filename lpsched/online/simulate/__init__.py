"""Days as they happen: an engine that owns the clock and the truth, and policies that only answer."""
