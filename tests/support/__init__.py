"""Shared by tests and benchmarks: generated repositories, oracles, and running the program."""
