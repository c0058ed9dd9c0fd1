"""Model answers from a script: steps, matching, upstream response files."""
