"""From a repository to its files: the walk, what each file is, its history, and the programs that tell."""
