"""Checks each model request against the rules of the real API.

A replayed model answers any request, so it would hide a fault that the API refuses. The rules never
change an answer.
"""
