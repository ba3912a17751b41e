"""The query-side view of a repository: facts, files and graphs, loaded on demand and shared by all questions."""
