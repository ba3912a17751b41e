"""The ends of bridges between operators and what implements, tests and documents them."""
