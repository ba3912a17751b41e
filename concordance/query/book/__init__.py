"""What the chapters of the book are made of."""
