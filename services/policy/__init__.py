"""Who may do what unasked."""
