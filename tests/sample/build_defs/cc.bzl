"""Rules for building."""

def abacus_library(name, srcs, **kwargs):
    """Builds a library."""
    native.cc_library(name = name, srcs = srcs, **kwargs)
