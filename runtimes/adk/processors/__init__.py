"""Request processors: what happens to a turn before the model is asked."""
