"""One run of one cassette in one runtime, and everything observed of it."""
