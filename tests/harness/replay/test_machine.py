"""A shortage of the machine that begins during a run and ends before its end."""

import errno
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from harness.cassette.format import Cassette
from harness.cassette.load import load_cassette
from harness.errors import ReplayFailure
from harness.replay.machine import machine_suffices, shortage_in
from harness.replay.models import ReplayedModel, scripted_model
from harness.replay.runner import run_cassette
from services.clock import VirtualClock
from services.exhaustion import notice
from services.model.replay.generator import ObservedRequest

_ROOT = Path(__file__).parents[3] / "cassettes"


class Scarcity:
    """Removes a resource at a run's first request, and restores it at the second."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._before = resource.getrlimit(limit)
        self._requests = 0

    def model(
        self,
        cassette: Cassette,
        clock: VirtualClock,
        on_request: Callable[[ObservedRequest], None],
        on_chunk: Callable[[int, int], None],
    ) -> ReplayedModel:
        """The cassette's own steps."""

        def requested(observed: ObservedRequest) -> None:
            on_request(observed)
            self._requests += 1
            if self._requests == 1:
                self._take()
            else:
                self.give_back()

        return scripted_model(cassette, clock, requested, on_chunk)

    def _take(self) -> None:
        least = 0
        if self._limit == resource.RLIMIT_NOFILE:
            least = os.open(os.devnull, os.O_RDONLY)  # the lowest free number
            os.close(least)
        resource.setrlimit(self._limit, (least, self._before[1]))

    def give_back(self) -> None:
        """Restore the limit."""
        resource.setrlimit(self._limit, self._before)


@contextmanager
def scarce(limit: int) -> Iterator[Scarcity]:
    scarcity = Scarcity(limit)
    try:
        yield scarcity
    finally:
        scarcity.give_back()


@pytest.mark.parametrize("runtime", ["legacy", "adk"])
@pytest.mark.parametrize(
    ("name", "limit", "problem"),
    [
        ("tools/write_yolo", resource.RLIMIT_FSIZE, "File too large, at <"),
        ("text/text", resource.RLIMIT_FSIZE, "File too large, at <HOME>/.gemini/tmp/"),
        ("tools/read_file", resource.RLIMIT_NOFILE, "Too many open files"),
        ("tools/glob_patterns", resource.RLIMIT_NOFILE, "Too many open files"),
        ("tools/grep_one_file", resource.RLIMIT_NOFILE, "Too many open files"),
    ],
)
def test_a_shortage_during_the_run_decides_nothing(runtime, name, limit, problem):
    cassette = load_cassette(_ROOT / f"{name}.yaml", _ROOT)
    with scarce(limit) as scarcity, pytest.raises(ReplayFailure) as refused:
        run_cassette(cassette, runtime, model=scarcity.model)
    message = str(refused.value)
    assert message.startswith(f"{runtime}: the machine cannot run it: {problem}")
    assert message.endswith("; make room and run again")
    assert "/parity-" not in message


@pytest.fixture
def refused(tmp_path):
    """The failure of a run in which a service reported `error` and continued."""

    def of(error: BaseException, path: object = None) -> str:
        try:
            with machine_suffices("legacy", tmp_path, str):
                notice(error, path)
        except ReplayFailure as failure:
            return failure.problem
        return "decides"

    return of


@pytest.mark.parametrize(
    "number",
    [
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EFBIG,
        errno.EROFS,
        errno.EIO,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOMEM,
    ],
)
def test_a_shortage_of_the_machine_decides_nothing(refused, number):
    error = OSError(number, os.strerror(number))
    assert refused(error, "/x") == f"the machine cannot run it: {os.strerror(number)}, at /x"


@pytest.mark.parametrize(
    "number",
    [
        errno.ENOENT,
        errno.EISDIR,
        errno.ENOTDIR,
        errno.EACCES,
        errno.EPERM,
        errno.EEXIST,
        errno.ENAMETOOLONG,
        errno.ELOOP,
        errno.EAGAIN,
        errno.EPIPE,
        errno.ECONNREFUSED,
    ],
)
def test_errors_that_a_cassette_provokes_are_observations(refused, number):
    assert refused(OSError(number, os.strerror(number))) == "decides"


def test_memory_that_ran_out_decides_nothing(refused):
    several = ExceptionGroup("several", [ValueError(), ExceptionGroup("inner", [MemoryError()])])
    assert "Cannot allocate memory" in refused(several)


def test_an_error_of_the_run_goes_through(tmp_path):
    with pytest.raises(ValueError, match="mine"), machine_suffices("legacy", tmp_path, str):
        raise ValueError("mine")


def test_an_error_of_the_machine_that_ends_a_run_is_its_failure(tmp_path):
    with (
        pytest.raises(ReplayFailure, match="No space left on device"),
        machine_suffices("legacy", tmp_path, str),
    ):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_after_a_run_nothing_is_noticed(refused, tmp_path):
    with suppress(ReplayFailure):
        refused(MemoryError())
    assert refused(ValueError()) == "decides"


def test_a_folder_that_is_gone_or_cannot_be_written_is_a_shortage(tmp_path):
    (tmp_path / "file").touch()
    assert shortage_in(tmp_path) is None
    assert shortage_in(tmp_path, written=True) is None
    for folder in (tmp_path / "gone", tmp_path / "file"):
        assert shortage_in(folder, written=True) is not None
