"""The commands that are not questions: one file each. Each defines `command`, for `cli.py`."""
