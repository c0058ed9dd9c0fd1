"""OpenTelemetry spans, metrics and logs of a session, off by default.

The composition root and the runtimes use `contract`; `opening` imports the rest when telemetry is
on.
"""
