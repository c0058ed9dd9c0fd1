"""What a red run is about: whose problem, what changed since the last green one, where to look."""
