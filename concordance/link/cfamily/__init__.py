"""Resolve names of C, C++, CUDA and Objective-C."""
