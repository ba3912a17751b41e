"""Reads C, C++, CUDA and Objective-C."""
