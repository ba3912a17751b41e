"""The version of the program, as shown on its pages and by `concord --version`."""

VERSION = "0.1.0"
