"""Making a long conversation short: old turns become a snapshot of the state of the work."""
