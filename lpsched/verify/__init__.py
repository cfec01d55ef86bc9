"""Slow, plain checkers that share no code with what they check."""
