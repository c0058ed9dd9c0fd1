"""`DrivenPlugin`: an ADK plugin whose rule the runtime may also call by itself."""

from __future__ import annotations

from contextlib import AsyncExitStack

from google.adk.agents.invocation_context import InvocationContext
from google.adk.plugins.base_plugin import BasePlugin

__all__ = ["DrivenPlugin"]


class DrivenPlugin(BasePlugin):
    """A plugin that owns a rule of the product's.

    With `driven=True` the runtime calls the plugin's documented methods at the published core's
    moments, as ADK has no callback for some of them, and ADK's callbacks do nothing. Otherwise, in
    any `App`, ADK's callbacks call the same methods.
    """

    def __init__(self, name: str, *, driven: bool = False) -> None:
        super().__init__(name=name)
        self.driven = driven
        self._running = AsyncExitStack()
        """What a callback has entered for the time of a run."""
        if driven:
            for callback in vars(BasePlugin):
                if callback.endswith("_callback"):
                    setattr(self, callback, getattr(super(), callback))

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Leave what was entered for a run that has ended."""
        await self._running.aclose()

    async def on_run_error_callback(
        self, *, invocation_context: InvocationContext, error: Exception
    ) -> None:
        """Leave what was entered for a run that has failed."""
        await self._running.aclose()
