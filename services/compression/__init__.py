"""Compression: replaces old turns of a long conversation by a snapshot of the work's state."""
