"""Importing ADK without it writing to the terminal."""

from __future__ import annotations

import importlib
import logging
import pkgutil
import warnings
from types import ModuleType
from typing import Final

from parity import own_name

__all__ = ["import_quietly"]

_LOGGERS: Final = ("google_adk", "google_genai")
_SILENT: Final = logging.NullHandler()
_WARNERS: Final = r"google\.(adk|genai)(\.|\Z)"
_WARM_UP: Final = (
    "google.adk.auth.auth_preprocessor",
    "google.adk.workflow:Workflow",
    "google.adk.telemetry.node_tracing",
)
"""What ADK would import during the first invocation, in the middle of a turn."""


def import_quietly(name: str) -> ModuleType:
    """Import `name`, which imports ADK, and keep ADK silent from then on.

    ADK's log records reach only the handlers that its own loggers have: neither those of the root
    logger nor stderr, Python's last resort.
    """
    for logger_name in _LOGGERS:
        logger = logging.getLogger(logger_name)
        logger.addHandler(_SILENT)
        logger.propagate = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for module in _WARM_UP:
            pkgutil.resolve_name(module)
        imported = importlib.import_module(own_name(name))
    warnings.filterwarnings("ignore", module=_WARNERS)
    return imported
