"""The version of the program, as its pages and its command name it."""

VERSION = "0.1.0"
