"""Which models are available, and what replaces one that is not."""
