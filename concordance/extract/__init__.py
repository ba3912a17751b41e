"""From one file's text to its facts: pure, parallel, cached."""
