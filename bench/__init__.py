"""Benchmarks against programs written by others, on real repositories."""
