import importlib.util

import pytest

from harness.errors import UsageError
from harness.experiment.dask_workers import check_address, dask_workers


@pytest.mark.parametrize(
    "address",
    ["tls://cluster.example:8786", "tcp://127.0.0.1:8786", "tcp://[::1]:8786", "tcp://localhost:1"],
)
def test_encrypted_anywhere_and_plain_on_this_machine_is_allowed(address: str) -> None:
    check_address(address)


@pytest.mark.parametrize("address", ["tcp://10.0.0.1:8786", "tcp://cluster.example:8786"])
def test_plain_to_another_machine_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match=r"not encrypted.*tls://"):
        check_address(address)


@pytest.mark.parametrize(
    "address",
    ["cluster:8786", "ws://127.0.0.1:1", "tls://cluster", "tls://:1", "", "tcp://127.0.0.1:x"],
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="no scheduler's address"):
        check_address(address)


@pytest.mark.skipif(
    importlib.util.find_spec("distributed") is not None, reason="the extra `dask` is installed"
)
def test_without_dask_the_extra_is_named() -> None:
    with pytest.raises(UsageError, match=r"parity\[dask\]"):
        dask_workers("tls://cluster.example:8786")
