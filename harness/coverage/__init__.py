"""Coverage: numbered behaviours, the probes that show them, and the part that a corpus reaches."""
