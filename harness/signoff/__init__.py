"""Sign-off: sign a gate's answer, and verify it later."""
