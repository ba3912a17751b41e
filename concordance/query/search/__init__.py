"""Full-text search, ranking, and related files."""
