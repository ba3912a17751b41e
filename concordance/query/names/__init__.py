"""Resolves names and lists their references: definitions, callers, keywords, the alphabetical index."""
