"""Resolve Python names that C and C++ code defines."""
