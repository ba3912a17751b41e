"""Reads Python."""
