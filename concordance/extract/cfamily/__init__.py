"""Readers for C, C++, CUDA and Objective-C."""
