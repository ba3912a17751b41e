"""One file per command, found by its name.

A command's file holds `HELP` (what it answers, and an example), `ARGUMENT` (what it is asked
about, in capitals; with "[]" around it where it may be left out) and `answer(facts, argument,
page) -> Answer`; and, where it has options of its own, `FLAGS`: what each is for, by name.
"""
