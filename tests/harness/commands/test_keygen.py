import os
import pty
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from harness.signoff.keyfile import Source, read_secret
from harness.signoff.keys import SigningKey

REPOSITORY = Path(__file__).parents[3]


def keygen(*words: object) -> Result:
    return CliRunner().invoke(parity, ["keygen", *map(str, words)])


def private_lines(file: Path) -> list[str]:
    """What stands in a private key's file and must stand nowhere else."""
    return [line for line in file.read_text().splitlines() if "-----" not in line]


def test_a_pair_is_written_and_the_block_for_the_gates_printed(tmp_path: Path) -> None:
    result = keygen("--out", tmp_path / "k", "--name", "release-manager", "--no-passphrase")

    assert result.exit_code == 0
    block = tomllib.loads(result.output[result.output.index("[[") :])
    (signer,) = block["signing"]["signer"]
    key = SigningKey.from_pem(read_secret(Source(tmp_path / "k"), "private key"), "k", None)
    assert signer["name"] == "release-manager"
    assert signer["key"] == key.public.hexadecimal
    assert (tmp_path / "k").stat().st_mode & 0o777 == 0o600


def test_nothing_private_is_printed(tmp_path: Path) -> None:
    result = keygen("--out", tmp_path / "k", "--no-passphrase")

    assert private_lines(tmp_path / "k")
    assert not any(line in result.output for line in private_lines(tmp_path / "k"))


def test_a_throwaway_key_is_proposed_for_pull_requests_only(tmp_path: Path) -> None:
    result = keygen("--out", tmp_path / "k", "--name", "ci", "--no-passphrase")

    assert 'profiles = ["pull_request"]' in result.output


def test_a_passphrase_from_a_file_locks_the_key(tmp_path: Path) -> None:
    passphrase = tmp_path / "p"
    passphrase.write_text("correct horse\n")
    passphrase.chmod(0o600)

    result = keygen("--out", tmp_path / "k", "--passphrase-file", passphrase)

    assert result.exit_code == 0
    assert "ENCRYPTED" in (tmp_path / "k").read_text()
    assert "correct horse" not in result.output
    raw = (tmp_path / "k").read_bytes()
    assert SigningKey.from_pem(raw, "k", b"correct horse").public is not None


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "Missing option '--out'"),
        (["--out", "{tmp}/k"], "there is no terminal"),
        (["--out", "{tmp}/k", "--name", "Ada Lovelace", "--no-passphrase"], "no signer's name"),
        (["--out", "{tmp}/k", "--passphrase-file", "{tmp}/gone"], "cannot be read"),
        (["--out", "{tmp}/k", "--passphrase-fd", "987"], "is not open"),
        (["--out", "{tmp}/k", "--no-passphrase", "--passphrase-fd", "3"], "exclude each other"),
        (
            ["--out", "{tmp}/k", "--passphrase-file", "a", "--passphrase-fd", "3"],
            "exclude each other",
        ),
        (["--out", "{tmp}/open/k", "--no-passphrase"], "Not a directory"),
        (["--out", "{tmp}/gone/k", "--name", "Ada", "--no-passphrase"], "no signer's name"),
        (["--out", "{tmp}/gone/k"], "there is no terminal"),
        (["--out", "{tmp}", "--no-passphrase"], "is a directory"),
        (["--out", "{tmp}/k", "--passphrase-file", "{tmp}/short"], "shorter than 12 bytes"),
        (["--out", "{tmp}/k", "--passphrase-file", "{tmp}/open"], "others can read"),
    ],
)
def test_wrong_usage_writes_nothing(tmp_path: Path, words: list[str], says: str) -> None:
    for name, mode in (("short", 0o600), ("open", 0o644)):
        (tmp_path / name).write_text("seven77\n" if name == "short" else "correct horse\n")
        (tmp_path / name).chmod(mode)
    result = keygen(*(word.format(tmp=tmp_path) for word in words))

    assert result.exit_code == 2
    assert says in result.output
    assert "Traceback" not in result.output
    assert sorted(each.name for each in tmp_path.iterdir()) == ["open", "short"]


def test_folders_that_are_missing_are_made_for_their_owner_alone(tmp_path: Path) -> None:
    result = keygen("--out", tmp_path / "keys" / "2026" / "release", "--no-passphrase")

    assert result.exit_code == 0
    made = (tmp_path / "keys", tmp_path / "keys" / "2026")
    assert [each.stat().st_mode & 0o777 for each in made] == [0o700, 0o700]
    assert (made[1] / "release.pub").is_file()


@pytest.mark.parametrize("taken", ["k", "k.pub"])
def test_a_place_that_is_taken_is_refused_before_the_passphrase_is_read(
    tmp_path: Path, taken: str
) -> None:
    (tmp_path / taken).write_text("a key of somebody's")

    result = keygen("--out", tmp_path / "k", "--passphrase-file", tmp_path / "gone")

    assert result.exit_code == 2
    assert f"{tmp_path / taken}: is there already" in result.output


def test_a_place_that_cannot_be_written_is_refused_before_the_passphrase_is_read(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("no folder")

    result = keygen("--out", tmp_path / "file" / "k", "--passphrase-file", tmp_path / "gone")

    assert result.exit_code == 2
    assert f"cannot be written: {tmp_path / 'file'}: Not a directory" in result.output
    assert "gone" not in result.output


def test_a_key_is_never_written_over(tmp_path: Path) -> None:
    keygen("--out", tmp_path / "k", "--no-passphrase")
    before = (tmp_path / "k").read_bytes()

    result = keygen("--out", tmp_path / "k", "--no-passphrase")

    assert result.exit_code == 2
    assert "is there already" in result.output
    assert (tmp_path / "k").read_bytes() == before


_AT_A_TERMINAL = """
import fcntl, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from harness.cli import main
main()
"""


@pytest.mark.parametrize(
    ("typed", "code"),
    [([b"correct horse\n", b"correct horse\n"], 0), ([b"\x03"], 130), ([b"\x04"], 130)],
)
def test_the_passphrase_is_asked_for_at_a_terminal_and_not_shown(
    tmp_path: Path, typed: list[bytes], code: int
) -> None:
    main, terminal = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-c", _AT_A_TERMINAL, "keygen", "--out", str(tmp_path / "k")],
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=terminal,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        start_new_session=True,
    )
    os.close(terminal)
    shown = b""
    for prompt, line in zip((b"passphrase:", b"once more:"), typed, strict=False):
        while prompt not in shown:
            shown += os.read(main, 1000)
        os.write(main, line)
    out, _ = child.communicate(timeout=60)
    os.close(main)

    assert child.returncode == code
    assert b"correct horse" not in shown + out
    assert (tmp_path / "k").exists() is (code == 0)
