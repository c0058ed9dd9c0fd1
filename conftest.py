"""Which variants of a test run with each change, and which by night only.

For all tests of the repository: `tests/` and `parity_tests/`.
"""

from __future__ import annotations

from collections import Counter

import pytest


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
