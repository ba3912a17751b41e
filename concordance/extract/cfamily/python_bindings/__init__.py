"""Reads what C and C++ code offers to Python: the CPython API, pybind11 and nanobind."""
