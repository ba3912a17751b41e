"""Runs the stages: the pipeline, worker pools, incremental updates, watching and publishing."""
