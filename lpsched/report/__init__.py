"""Tables, pictures and pages for people. Reads results, never solves."""
