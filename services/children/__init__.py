"""The services of a running subagent, and how its calls run.

Separate from `services.subagents`, which is a part of the bundle of services that this builds on.
"""
