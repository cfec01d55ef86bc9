"""Tables, figures and pages. Reads results, never solves."""
