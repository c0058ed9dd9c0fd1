"""What a running child is given by its parent, and how its calls are run.

Apart from `services.subagents` because it builds on the whole bundle of services, of which that is
a part.
"""
