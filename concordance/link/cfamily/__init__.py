"""Resolve the headers and the names of C, C++, CUDA and Objective-C; `link/languages/c.py` is the plug-in."""
