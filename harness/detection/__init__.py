"""What the harness would notice, measured: every seeded fault against corpus and generated runs."""
