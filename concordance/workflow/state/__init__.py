"""State that a long-running process keeps between updates."""
