"""What operators add to looking up a name."""
