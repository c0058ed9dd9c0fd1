"""ADK plugins of third parties, found by name: `package.module:attribute`."""

from __future__ import annotations

import inspect
import logging
import pkgutil
from collections.abc import Sequence
from typing import TypeVar

from google.adk.plugins.base_plugin import BasePlugin

from runtimes.contract import RuntimeUnavailable

__all__ = ["named_plugins", "without_namesakes"]

logger = logging.getLogger(__name__)

_Plugins = TypeVar("_Plugins", bound=Sequence[BasePlugin])


def named_plugins(names: str) -> list[BasePlugin]:
    """The plugins that `names` lists, with commas between.

    An attribute is a `BasePlugin`, or a class or function that makes one without arguments.

    Raises:
        RuntimeUnavailable: one of them cannot be had; says which and why in one sentence.
    """
    return without_namesakes([_named(name.strip()) for name in names.split(",")])


def without_namesakes(plugins: _Plugins) -> _Plugins:
    """Return the plugins, or raise `RuntimeUnavailable`: ADK takes one plugin of each name."""
    names = [plugin.name for plugin in plugins]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        problem = f"two ADK plugins are called {twice[0]!r}"
        raise RuntimeUnavailable(problem, "give one of them another name, or leave it out")
    return plugins


def _named(name: str) -> BasePlugin:
    try:
        found = pkgutil.resolve_name(name)
        if callable(found) and not isinstance(found, BasePlugin):
            found = found()
        if inspect.iscoroutine(found):
            found.close()
        if not isinstance(found, BasePlugin):
            raise TypeError(f"it is no BasePlugin but of type {type(found).__name__}")
    except (Exception, SystemExit) as error:
        logger.debug("the ADK plugin %s cannot be used", name, exc_info=error)
        why = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}".rstrip(": ")
        mend = "name a plugin, its class or its factory that can be imported: package.module:name"
        raise RuntimeUnavailable(f"the ADK plugin {name!r} cannot be used: {why}", mend) from error
    return found
