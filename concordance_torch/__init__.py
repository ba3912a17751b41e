"""What only PyTorch has: operators, their kernels, derivatives, tests and documents.

It extends Concordance as any other distribution may: `pyproject.toml` names it as an entry point of the group
`concordance.plugins`, and its folders mirror those of `concordance`. Nothing in `concordance` imports it.
"""
