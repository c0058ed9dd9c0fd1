import errno
import fcntl
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.journal_lock import JournalLock, lock_file

_HOLD_UNTIL_KILLED = """
import sys
from pathlib import Path
from harness.journal_lock import JournalLock
lock = JournalLock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_writer_is_refused_and_learns_who_the_first_is(tmp_path):
    journal = tmp_path / "j"
    first = JournalLock(journal)
    when = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00"
    with pytest.raises(UsageError, match=f"written by process {os.getpid()} since {when}; wait"):
        JournalLock(journal)
    first.release()
    first.release()
    assert list(tmp_path.iterdir()) == []
    JournalLock(journal).release()


def test_the_lock_of_a_killed_process_blocks_no_other(tmp_path):
    journal = tmp_path / "j"
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD_UNTIL_KILLED, str(journal)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(UsageError, match=f"process {holder.pid} "):
            JournalLock(journal)
        holder.kill()
    assert lock_file(journal).exists()
    lock = JournalLock(journal)
    assert lock_file(journal).read_text().startswith(f"{os.getpid()} ")
    lock.release()


@pytest.mark.parametrize("content", [b"", b"\x1b[2J 2026\n", b"1" * 10_000, b"12 \xff\n"])
def test_what_a_lock_file_says_of_its_holder_is_not_trusted(content, tmp_path):
    lock = JournalLock(tmp_path / "j")
    lock_file(tmp_path / "j").write_bytes(content)
    with pytest.raises(UsageError, match="written by another process; wait"):
        JournalLock(tmp_path / "j")
    lock.release()


def test_a_link_in_place_of_the_lock_is_not_followed(tmp_path):
    lock_file(tmp_path / "j").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match=re.escape(os.strerror(errno.ELOOP))):
        JournalLock(tmp_path / "j")
    assert not (tmp_path / "elsewhere").exists()


def test_a_file_system_without_locks_is_a_warning(tmp_path, monkeypatch, capsys):
    def unsupported(_descriptor: int, _operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", unsupported)
    JournalLock(tmp_path / "j").release()
    said = capsys.readouterr().err
    assert said == f"parity: {tmp_path / 'j'} cannot be locked here: let no other run write to it\n"
