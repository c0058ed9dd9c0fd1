"""Each test has a pool of its own."""

from collections.abc import Iterator

import pytest

from runtimes.upstream import pool
from tests.runtimes.upstream.stand_ins import children, fresh_pool


@pytest.fixture
def empty_pool() -> Iterator[None]:
    """No warm driver before the test, and none left after it."""
    with fresh_pool():
        yield


@pytest.fixture
def nothing_left(empty_pool: None) -> Iterator[None]:
    """The test leaves no child process behind."""
    before = children()
    yield
    pool.close_idle()
    assert children() - before == set()
