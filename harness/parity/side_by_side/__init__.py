"""Builds the timelines of two compared runs."""
