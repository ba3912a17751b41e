"""What tests and benchmarks share: made-up repositories, oracles, the program as a subprocess."""
