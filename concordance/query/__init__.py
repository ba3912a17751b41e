"""From a question to its answer: one file per command."""
