"""What an update changes in the store, and what the next one needs to know."""
