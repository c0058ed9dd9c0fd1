"""ADK plugins of third parties, found by name: `package.module:attribute`."""

from __future__ import annotations

import importlib
import inspect
import logging
from collections.abc import Sequence
from functools import reduce
from typing import Any, Final

from google.adk.plugins.base_plugin import BasePlugin

from runtimes.contract import RuntimeUnavailable

__all__ = ["named_plugins", "without_namesakes"]

logger = logging.getLogger(__name__)

_MEND: Final = "name a BasePlugin, its class or a function that makes one: package.module:attribute"


def named_plugins(names: str) -> list[BasePlugin]:
    """The plugins that `names` lists, `package.module:attribute` with commas between.

    An attribute is a `BasePlugin`, or a class or function that makes one without arguments.

    Raises:
        RuntimeUnavailable: one of them cannot be had; says which and why in one sentence.
    """
    return without_namesakes([_named(name.strip()) for name in names.split(",")])


def without_namesakes(plugins: Sequence[BasePlugin]) -> list[BasePlugin]:
    """The same plugins; ADK tells plugins apart by their names.

    Raises:
        RuntimeUnavailable: two of them have the same name.
    """
    names = [plugin.name for plugin in plugins]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        problem = f"two ADK plugins are called {twice!r}"
        raise RuntimeUnavailable(problem, "give one of them another name, or leave it out")
    return list(plugins)


def _named(name: str) -> BasePlugin:
    module, colon, attribute = name.partition(":")
    if not (module and colon and attribute):
        raise _unusable(name, "it has no module and attribute", _MEND)
    try:
        found: Any = importlib.import_module(module)
    except (Exception, SystemExit) as error:
        mend = "install its package, put its folder on PYTHONPATH, or mend it"
        raise _failed(name, f"importing {module}", error, mend) from error
    try:
        found = reduce(getattr, attribute.split("."), found)
    except AttributeError:
        raise _unusable(name, f"{module} has no attribute {attribute}", _MEND) from None
    if callable(found) and not isinstance(found, BasePlugin):
        try:
            found = found()
        except (Exception, SystemExit) as error:
            raise _failed(name, f"calling {attribute}()", error, _MEND) from error
    if inspect.iscoroutine(found):
        found.close()
    if not isinstance(found, BasePlugin):
        raise _unusable(name, f"it is no BasePlugin but of type {type(found).__name__}", _MEND)
    return found


def _failed(name: str, doing: str, error: BaseException, mend: str) -> RuntimeUnavailable:
    logger.debug("%s failed", doing, exc_info=error)
    first = (str(error).splitlines() or [""])[0]
    return _unusable(
        name, f"{doing} failed with {type(error).__name__}: {first}".rstrip(": "), mend
    )


def _unusable(name: str, problem: str, mend: str) -> RuntimeUnavailable:
    return RuntimeUnavailable(f"the ADK plugin {name!r} cannot be used: {problem}", mend)
