import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# A shell starts what it puts into the background deaf to Ctrl-C, and so is all that that starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A busy machine is no fault of what is tested. All else is as it was: where `CI` is set, or with
# --hypothesis-profile=ci, the examples are always the same ones.
settings.register_profile(
    "unhurried", settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
)
settings.load_profile("unhurried")


@pytest.fixture(autouse=True)
def environment_restored() -> Iterator[None]:
    """Take back variables that the product sets for its whole process, as `env` of parity.toml."""
    before = dict(os.environ)
    yield
    for name in os.environ.keys() - before.keys():
        del os.environ[name]


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not record runs of tests as the last run; a test that needs a record passes `--keep`."""
    monkeypatch.setenv("PARITY_KEEP", "0")
