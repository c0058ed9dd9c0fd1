"""Agents in other programs: a process that speaks JSON lines, and agents behind ACP and A2A.

Their time is real. It passes while the program works; while it waits for an answer of the model,
virtual time passes, so that delays of a cassette cost nothing.
"""
