"""A generated run from its first block to its last finding made small, and what it shows."""
