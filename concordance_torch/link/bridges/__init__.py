"""Joins operators with what implements, tests and documents them."""
