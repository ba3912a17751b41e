"""How a build is run: the pipeline, worker pools, incremental updates, watching and publishing."""
