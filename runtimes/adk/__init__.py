"""The loop on Google's Agent Development Kit: Runner and LlmAgent.

Importing this package is cheap; ADK itself is imported when a runtime is opened.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from runtimes.adk.quiet import import_quietly
from runtimes.contract import RuntimeTraits
from runtimes.features import BUILT

if TYPE_CHECKING:
    from runtimes.contract import Runtime
    from services.bundle import Services

__all__ = ["TRAITS", "open_runtime"]

TRAITS: Final = RuntimeTraits(features=BUILT)


@asynccontextmanager
async def open_runtime(services: Services) -> AsyncIterator[Runtime]:
    """Open the ADK engine over `services`; leaving aborts, awaits and disposes."""
    engine = import_quietly("runtimes.adk.runtime")
    async with engine.open_engine(services) as runtime:
        yield runtime
