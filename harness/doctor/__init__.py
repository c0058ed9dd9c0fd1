"""`parity doctor`: what a runtime can do, what it lacks, and what a comparison cannot find then."""
