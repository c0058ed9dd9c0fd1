"""`parity init`: the files with which a project begins to compare two agents of its own."""
