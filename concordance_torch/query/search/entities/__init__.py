"""Operators as named things, for questions about a name."""
