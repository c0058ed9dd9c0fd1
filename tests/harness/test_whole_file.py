import errno
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.whole_file import write_asked_for, write_whole

_LIMITED = """
import resource, sys
from pathlib import Path
from harness.whole_file import write_whole
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    write_whole(Path(sys.argv[1]), "x" * 100_000)
except OSError as error:
    print(error.errno)
"""


def test_writes_text_and_bytes(tmp_path):
    write_whole(tmp_path / "a", "ä\n")
    write_whole(tmp_path / "b", b"\xff")
    assert (tmp_path / "a").read_bytes() == "ä\n".encode()
    assert (tmp_path / "b").read_bytes() == b"\xff"


def test_a_write_that_fails_half_way_leaves_the_old_content_and_nothing_else(tmp_path):
    file = tmp_path / "report.json"
    file.write_text("old")
    done = subprocess.run(
        [sys.executable, "-c", _LIMITED, str(file)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) == errno.EFBIG
    assert file.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["report.json"]


def test_a_file_keeps_its_permissions_and_a_new_one_is_private(tmp_path):
    file, fresh = tmp_path / "kept", tmp_path / "fresh"
    file.touch(mode=0o640)
    write_whole(file, "x")
    write_whole(fresh, "x")
    assert file.stat().st_mode & 0o777 == 0o640
    assert fresh.stat().st_mode & 0o777 == 0o600


def test_a_link_stays_and_its_target_is_replaced(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_whole(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_the_longest_name_can_be_written(tmp_path):
    file = tmp_path / ("n" * 255)
    write_whole(file, "x")
    assert file.read_text() == "x"


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="there is no /dev/shm here")
def test_a_new_file_in_shared_memory_is_a_file_like_any_other():
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        write_whole(Path(folder, "new"), "x")
        assert Path(folder, "new").read_text() == "x"


def test_a_device_is_written_to_and_stays_one():
    write_whole(Path(os.devnull), "x")
    assert Path(os.devnull).is_char_device()


def test_a_pipe_receives_the_whole_text(tmp_path):
    pipe, long = tmp_path / "pipe", "x" * 1_000_000
    os.mkfifo(pipe)
    received: list[str] = []
    # Both ends must be open before the writer looks for a reader.
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(reading, True)

    def read() -> None:
        with os.fdopen(reading) as stream:
            received.append(stream.read())

    reader = threading.Thread(target=read)
    writing = os.open(pipe, os.O_WRONLY)
    reader.start()
    write_whole(pipe, long)
    os.close(writing)
    reader.join(60)
    assert received == [long]


def test_a_pipe_without_a_reader_is_an_error(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match=r"No such device or address; choose .* with --json"):
        write_asked_for(tmp_path / "pipe", "x", "--json")
