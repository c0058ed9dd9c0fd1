"""What a session tells of itself as OpenTelemetry spans and metrics, off unless it is asked for.

`contract` is what the composition root and the runtimes know; everything else is imported by
`opening` alone, when telemetry is on.
"""
