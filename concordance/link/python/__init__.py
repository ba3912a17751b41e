"""Resolve the modules and the names of Python; `link/languages/python.py` is the plug-in that uses them."""
