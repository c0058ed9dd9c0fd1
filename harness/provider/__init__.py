"""What the real API would say of a request: rules with their evidence, and who broke which.

A replayed model answers anything, so a fault that makes a conversation impossible would pass
unnoticed. These rules read each request as the API would and never change an answer.
"""
