"""Running cassettes through runtimes: one case at a time, or many at once."""
