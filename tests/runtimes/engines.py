"""The registered runtimes, as parameters of the tests that every runtime has to pass."""

from __future__ import annotations

import pytest
from _pytest.mark import ParameterSet

from runtimes.contract import RuntimeUnavailable, UnusableRuntime
from runtimes.registry import check_runtime, known_runtimes, runtime_traits

__all__ = ["engines", "opened_or_skipped"]


def engines(*, in_process: bool = False) -> list[ParameterSet]:
    """A parameter for each registered runtime, also for those of other packages.

    A runtime that works in another program takes long, so its tests run by night only.

    Args:
        in_process: Leave such runtimes out: the tests replace parts of the services, which an
            engine in another program does not use.
    """
    found = []
    for name in known_runtimes():
        try:
            local = runtime_traits(name).confinable
        except UnusableRuntime:  # `opened_or_skipped` raises it again, in the tests of this runtime
            local = True
        if local or not in_process:
            found.append(pytest.param(name, marks=() if local else pytest.mark.slow))
    return found


def opened_or_skipped(name: str) -> str:
    """Return `name`; skip the test where something that the runtime needs is not installed.

    Raises:
        UnusableRuntime: the runtime is broken.
    """
    try:
        check_runtime(name)
    except UnusableRuntime:
        raise
    except RuntimeUnavailable as missing:
        pytest.skip(str(missing))
    return name
