"""The hand-written loop: agent → client → chat → turn → scheduler.

Source: core `agent/legacy-agent-session.ts`, `core/client.ts`, `core/geminiChat.ts`,
`core/turn.ts`.
"""

from runtimes.legacy.runtime import open_runtime

__all__ = ["open_runtime"]
