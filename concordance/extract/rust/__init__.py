"""What the reader for Rust needs beyond a grammar and queries: macros, and the types that patterns state."""
