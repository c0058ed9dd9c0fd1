"""Whether a conversation goes round in circles."""
