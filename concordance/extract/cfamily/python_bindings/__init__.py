"""Reads what C and C++ code exposes to Python: the CPython API, pybind11 and nanobind."""
