"""Which models can be used, and what happens when one cannot."""
