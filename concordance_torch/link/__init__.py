"""Finds the operators and kernels that names mean."""
