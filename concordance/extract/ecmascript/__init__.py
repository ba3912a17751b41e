"""The reader for JavaScript and TypeScript."""
