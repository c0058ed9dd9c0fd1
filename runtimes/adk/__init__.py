"""The loop on Google's Agent Development Kit: Runner and LlmAgent.

Importing this package is cheap; ADK itself is imported when a runtime is opened. As a diagnostic,
`adk@package.module:attribute` is the same with plugins of others, commas between several.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from runtimes.adk.quiet import import_quietly
from runtimes.contract import RuntimeTraits
from runtimes.features import BUILT

if TYPE_CHECKING:
    from google.adk.plugins.base_plugin import BasePlugin

    from runtimes.adk.agent import ArrangeFlow
    from runtimes.contract import Runtime, RuntimeFactory
    from services.bundle import Services

__all__ = ["TRAITS", "check", "open_runtime", "variant"]

TRAITS: Final = RuntimeTraits(
    features=BUILT, inspected=f"{__name__}.plugins.inspecting:InspectingAdkPlugin"
)


@asynccontextmanager
async def open_runtime(
    services: Services,
    *,
    plugins: Sequence[BasePlugin] = (),
    arrange_flow: ArrangeFlow | None = None,
) -> AsyncIterator[Runtime]:
    """Open the ADK engine over `services`; leaving aborts, awaits and disposes.

    Args:
        services: what the engine works with.
        plugins: of others, see `SessionFactory`; closed with the engine.
        arrange_flow: called with each agent's flow, to place request processors of others.

    Raises:
        RuntimeUnavailable: two plugins have the same name.
    """
    engine = import_quietly("runtimes.adk.runtime")
    async with engine.open_engine(services, plugins, arrange_flow) as runtime:
        yield runtime


def variant(names: str) -> RuntimeFactory:
    """The factory behind `adk@names`: each engine that it opens has the plugins so named."""

    @asynccontextmanager
    async def open_with_plugins(services: Services) -> AsyncIterator[Runtime]:
        named = import_quietly("runtimes.adk.plugins.named")
        async with open_runtime(services, plugins=named.named_plugins(names)) as runtime:
            yield runtime

    return open_with_plugins


def check(names: str | None) -> None:
    """Raise `RuntimeUnavailable` if a plugin of `adk@names` cannot be had."""
    if names is not None:
        import_quietly("runtimes.adk.plugins.named").named_plugins(names)
