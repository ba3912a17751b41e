"""Rules that look for slow or unsafe code, one per file; adding a file to this folder registers the rule.

A rule's module describes the rule in constants (`ID`, `TITLE`, `CATEGORY`, `SEVERITY`, `LANGUAGES`, `NAMES` or
`WORDS`, `WHY`, `BAD`, `GOOD`) and has a function `find(look)`, which yields matches, mostly made by `look.at(…)`.
`find` is called only if one of `NAMES` is among the file's names, or one of `WORDS` occurs in its bytes. An empty
`LANGUAGES` means every text file. `TESTS` says whether the rule also applies to tests and benchmarks: slow code
there is mostly intended, and the data they read was usually written by themselves.
"""
