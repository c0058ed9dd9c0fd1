import errno
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from services.exhaustion import Shortage, limited, notice, noticing
from services.node_errors import error_code, node_error_message
from services.output_files import OutputFileError, write_output
from services.presentation.errors import map_error, thrown_text, unexpected_error
from services.recording.session_file import SessionFile
from services.tools.text_files import TextFileError, write_text

FULL = OSError(errno.ENOSPC, "No space left on device")
NO_ROOM = Shortage(problem="No space left on device")


@pytest.fixture
def found():
    found: list[Shortage] = []
    with noticing(found.append):
        yield found


@contextmanager
def no_file_may_grow() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def raised_from(cause: BaseException) -> Exception:
    try:
        try:
            raise cause
        except BaseException as error:
            raise ValueError("words") from error
    except ValueError as error:
        return error


def raised_after(context: BaseException) -> Exception:
    try:
        try:
            raise context
        except BaseException:
            raise ValueError("words") from None
    except ValueError as error:
        return error


def in_a_group(error: Exception) -> Exception:
    return ExceptionGroup("several", [ValueError("one"), ExceptionGroup("inner", [error])])


@pytest.mark.parametrize("wrapped", [raised_from, raised_after, in_a_group])
def test_an_error_is_found_wherever_it_is_wrapped(found, wrapped):
    notice(wrapped(FULL))
    assert found == [NO_ROOM]


def test_a_circle_of_causes_ends(found):
    one, other = ValueError("one"), ValueError("other")
    one.__cause__, other.__cause__ = other, one
    notice(one)
    assert found == []


def test_the_path_of_the_error_counts_before_that_of_the_caller(found):
    notice(OSError(errno.EIO, "x", "/own"), "/other")
    notice(OSError(errno.EIO, "x"), "/other")
    assert [shortage.path for shortage in found] == ["/own", "/other"]


@pytest.mark.parametrize(
    "words",
    [
        error_code,
        lambda error: node_error_message(error, "open"),
        map_error,
        unexpected_error,
        thrown_text,
    ],
)
def test_an_error_that_becomes_words_is_noticed(found, words):
    words(FULL)
    assert found[0] == NO_ROOM


def test_writers_that_survive_a_full_disk_report_it(found, tmp_path):
    with no_file_may_grow():
        with pytest.raises(OSError, match="File too large"):
            SessionFile(tmp_path / "a", lambda: None).append({})
        with pytest.raises(TextFileError):
            write_text(tmp_path / "b", "text")
        with pytest.raises(OutputFileError):
            write_output(tmp_path / "c", "text")
    paths = dict.fromkeys(shortage.path for shortage in found if shortage.path)
    assert list(paths) == [str(tmp_path / name) for name in "abc"]
    assert {shortage.problem for shortage in found} == {os.strerror(errno.EFBIG)}


def test_a_recording_that_goes_on_without_a_file_reports_it(found, tmp_path, monkeypatch):
    recording = SessionFile(tmp_path / "a", lambda: None)

    def full(_portions: object) -> None:
        raise FULL

    monkeypatch.setattr(recording, "_append", full)
    recording.append({})
    assert recording.closed
    assert found == [Shortage(problem="No space left on device", path=str(tmp_path / "a"))]


def test_all_observers_receive_it_and_none_after_its_end():
    first: list[Shortage] = []
    second: list[Shortage] = []
    with noticing(first.append):
        with noticing(second.append):
            notice(FULL)
        notice(FULL)
    notice(FULL)
    assert (len(first), len(second)) == (2, 1)


def test_a_limit_of_the_product_is_reported_and_returned() -> None:
    seen: list[Shortage] = []
    error = ValueError("More than 3 imports.")

    with noticing(seen.append):
        assert limited(error) is error

    assert seen == [Shortage(problem="More than 3 imports", by_limit=True)]
