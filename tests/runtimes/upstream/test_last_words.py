import sys
from pathlib import Path

from runtimes.upstream.process import DriverProcess

KEY = "AIza" + "SyD3mO_k3Y-4bcdEfghIjklMnopQrstUvw12"
CERTIFICATE = "-----BEGIN " + "PRIVATE KEY-----\n" + "QUJDREVGR0hJSktMTU5P\n" * 300


def last_words(tmp_path: Path, said: str) -> str:
    """The error tail of a driver that writes something and ends."""
    script = tmp_path / "driver.py"
    script.write_text(f"import sys\nsys.stderr.write({said!r})\n")
    process = DriverProcess([sys.executable, script], "0.0.0")
    try:
        assert process.ended() == "ended with exit code 0"
        return process.error_tail()
    finally:
        process.close()


def test_a_drivers_last_words_have_no_keys(tmp_path: Path) -> None:
    tail = last_words(tmp_path, f"Error: API key {KEY} is not valid\n    at /home/karlotta/x.mjs")

    assert tail.startswith("Error: API key REDACTEDxxx")
    assert tail.endswith("x is not valid\n    at /home/REDACTED/x.mjs")


def test_a_secret_that_begins_before_the_tail_is_masked(
    tmp_path: Path,
) -> None:
    tail = last_words(tmp_path, f"{CERTIFICATE}that was the key")

    assert "QUJDREVG" not in tail
    assert tail.endswith("that was the key")
