"""A shop's agent, in the forms that the worked migrations move between."""
