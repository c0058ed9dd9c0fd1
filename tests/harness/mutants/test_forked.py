import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import pytest

from harness.mutants.forked import Answer, Forked, Gone, Raised


def forked(answer: Answer, *, cpu_s: float = 30, wall_s: float = 30) -> Forked:
    return Forked(lambda: answer, cpu_s=cpu_s, wall_s=wall_s)


def test_it_answers_in_a_process_of_its_own() -> None:
    kept: list[int] = []

    def answer(number: int) -> tuple[int, int]:
        kept.append(number)
        return os.getpid(), sum(kept)

    with forked(answer) as process:
        pids, sums = zip(process.ask(1), process.ask(2), strict=True)

    assert sums == (1, 3)
    assert len(set(pids)) == 1
    assert pids[0] != os.getpid()
    assert kept == []


def test_what_the_answering_function_raises_is_said_and_the_process_goes_on() -> None:
    def answer(number: int) -> int:
        return 10 // number

    with forked(answer) as process:
        assert process.ask(0) == Raised("ZeroDivisionError: integer division or modulo by zero")
        assert process.ask(5) == 2


def test_what_preparing_raises_is_the_first_answer() -> None:
    def prepare() -> Answer:
        raise ImportError("no such module")

    with Forked(prepare, cpu_s=30, wall_s=30) as process:
        assert process.ask(None) == Raised("ImportError: no such module")


def test_an_answer_that_cannot_be_sent_is_an_error_of_its_own() -> None:
    with forked(lambda _: lambda: None) as process:
        found = process.ask(None)

    assert isinstance(found, Raised)


def endless(_: Any) -> None:
    while True:
        pass


def waiting(_: Any) -> None:
    os.read(os.pipe()[0], 1)


def swallowing(_: Any) -> None:
    while True:
        try:
            endless(None)
        except BaseException:
            continue


@pytest.mark.parametrize(
    ("stuck", "limits"),
    [
        (endless, {"cpu_s": 0.1}),
        (swallowing, {"cpu_s": 0.1}),
        (waiting, {"wall_s": 0.1}),
    ],
)
def test_an_endless_loop_and_an_endless_wait_end_by_their_limits(
    stuck: Callable[[Any], None], limits: dict[str, float]
) -> None:
    with forked(stuck, **limits) as process:
        assert process.ask(None) == Gone(over_time=True)


@pytest.mark.parametrize(
    "end", [lambda _: os._exit(3), lambda _: os.kill(os.getpid(), signal.SIGKILL)]
)
def test_a_process_that_ends_gives_no_answer(end: Callable[[Any], None]) -> None:
    with forked(end) as process:
        assert process.ask(None) == Gone(over_time=False)


def test_sys_exit_ends_the_process_and_not_this_one() -> None:
    with forked(lambda _: sys.exit(0)) as process:
        assert process.ask(None) == Gone(over_time=False)


def test_nothing_is_left_of_the_process(capfd: pytest.CaptureFixture[str]) -> None:
    def loud(_: Any) -> int:
        os.write(1, b"out")
        os.write(2, b"err")
        return os.getpid()

    with forked(loud) as process:
        pid = process.ask(None)

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert capfd.readouterr() == ("", "")
