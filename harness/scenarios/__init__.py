"""Generated scenarios: a grammar, two ways to draw from it, and the handling of findings."""
