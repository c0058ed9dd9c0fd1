"""The hand-written loop: agent → client → chat → turn → scheduler.

Source: core `agent/legacy-agent-session.ts`, `core/client.ts`, `core/geminiChat.ts`,
`core/turn.ts`.
"""

from typing import Final

from runtimes.contract import RuntimeTraits
from runtimes.features import BUILT
from runtimes.legacy.runtime import open_runtime

__all__ = ["TRAITS", "open_runtime"]

TRAITS: Final = RuntimeTraits(features=BUILT)
