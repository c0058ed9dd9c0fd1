import pytest


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of tests are nobody's last run; a test that wants one kept says `--keep`."""
    monkeypatch.setenv("PARITY_KEEP", "0")
