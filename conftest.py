"""Which variants of a test run with each change, and which by night only.

For all tests of the repository: `tests/` and `parity_tests/`.
"""

from __future__ import annotations

import gc
from collections import Counter

# Imported later, it would look for references that a frozen heap does not show, and warn.
import hypothesis  # noqa: F401
import pytest

# Tests import our packages by their short names, and `parity` gives them second names then.
import agent_protocol  # noqa: F401

# Collecting makes millions of objects and no garbage.
gc.set_threshold(50_000, 20, 100)


def pytest_collection_finish() -> None:
    """Keep the collector from walking all tests and modules again and again while tests run."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what `sampled(every)` leaves out: of a test's variants all but each `every`th.

    It comes before pytest takes out what `-m` does not ask for.
    """
    seen: Counter[str] = Counter()
    for item in items:
        sampled = item.get_closest_marker("sampled")
        if sampled is not None:
            test = item.nodeid.partition("[")[0]
            if seen[test] % sampled.args[0]:
                item.add_marker(pytest.mark.slow)
            seen[test] += 1
