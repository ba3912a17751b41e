"""The stages of a build, one module each."""
