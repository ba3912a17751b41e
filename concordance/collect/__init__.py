"""From a repository to its files: the walk, each file's type and history, and the external programs used for that."""
