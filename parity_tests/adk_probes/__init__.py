"""Probes of the adk runtime with the ADK code of others: plugins, processors, tools, sessions.

Each probe runs one script of a model twice, with the same plugins: under a stock `LlmAgent` and
`Runner`, and under the adk runtime. What was seen must be the same, but for `differences`.
"""
