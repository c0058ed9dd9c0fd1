"""The built-in agents.

Upstream's `browser_agent` needs a browser, and its memory extractor cannot be called; both are
missing here.
"""
