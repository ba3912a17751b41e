"""What the program is told to do: a file for each command that is no question. Each has `command`, for `cli.py`."""
