"""Sign-off: a gate's answer under somebody's name, and what holds of it later."""
