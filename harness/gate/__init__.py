"""The gate: may a flag be flipped? Conditions, evidence, and an answer with reasons."""
