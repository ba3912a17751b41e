"""Commands about operators."""
