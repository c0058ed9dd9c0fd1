"""Coverage: numbered behaviours, the probes that show them, and which of them a corpus reaches."""
