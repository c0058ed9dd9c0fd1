"""A generated run, from its first block to its last shrunk finding, and its report."""
