"""May a flag be flipped? What must hold, what was seen, and the answer with its reasons."""
