"""Resolve Python names."""
