"""What a corpus exercises: numbered behaviours, the probes that see them, and what was reached."""
