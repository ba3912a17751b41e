"""The repository as questions see it: facts, files and graphs, opened once and shared."""
