"""A run that leaves work unfinished is no parity, and its sentence names the work."""

import asyncio
import gc
import sysconfig
import warnings
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import harness.replay.runner as runner
from harness.cassette.format import Cassette
from harness.cassette.load import build_cassette
from harness.parity.compare import compare_repeated, observation_digest
from harness.parity.verdict import CaseVerdict
from harness.replay.observation import Observation
from harness.replay.runner import run_cassette
from harness.replay.unfinished import unfinished_work
from runtimes import legacy
from services.bundle import Services

_KEPT: list[object] = []


def cassette() -> Cassette:
    document = {
        "cassette": 1,
        "name": "family/case",
        "session": {"model": "gemini-2.5-flash"},
        "script": [{"send": "x"}],
        "model": [{"text": "hi"}],
    }
    return build_cassette(document, Path("/corpus/family/case.yaml"), Path("/corpus"))


async def work() -> None:
    """Do nothing: only whether it is awaited counts."""


async def forgets_an_await() -> None:
    work()  # type: ignore[unused-coroutine]  # the defect to be found


async def loses_an_error() -> None:
    async def fails() -> None:
        raise ValueError("lost")

    task = asyncio.create_task(fails())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert task.done()


async def loses_an_error_in_a_cycle() -> None:
    class Holder:
        task: asyncio.Task[None]

        async def fail(self) -> None:
            raise ValueError("lost")

    holder = Holder()
    holder.task = asyncio.create_task(holder.fail())
    await asyncio.sleep(0)
    await asyncio.sleep(0)


async def drops_an_open_stream() -> None:
    async def numbers() -> AsyncIterator[int]:
        yield 1
        yield 2

    async for _ in numbers():
        break


async def leaves_a_task() -> None:
    async def waits() -> None:
        await asyncio.Event().wait()

    _KEPT.append(asyncio.create_task(waits()))


async def finishes_everything() -> None:
    await work()


Defect = Callable[[], Coroutine[Any, Any, None]]


def seen_with(monkeypatch: pytest.MonkeyPatch, defect: Defect) -> Observation:
    @asynccontextmanager
    async def opening(engine: str, services: Services) -> AsyncIterator[object]:
        async with legacy.open_runtime(services) as runtime:
            await defect()
            yield runtime

    monkeypatch.setattr(runner, "open_runtime", opening)
    seen = run_cassette(cassette(), "legacy", deadline_s=20)
    monkeypatch.undo()
    _KEPT.clear()
    return seen


@pytest.mark.parametrize(
    ("defect", "says"),
    [
        (forgets_an_await, "the coroutine work ("),
        (loses_an_error, "Task exception was never retrieved: ValueError: lost"),
        (loses_an_error_in_a_cycle, "Task exception was never retrieved: ValueError: lost"),
        (drops_an_open_stream, "the asynchronous generator drops_an_open_stream.<locals>.numbers"),
        (leaves_a_task, "a task still runs leaves_a_task.<locals>.waits"),
    ],
)
def test_a_run_that_leaves_work_behind_is_no_parity(
    monkeypatch: pytest.MonkeyPatch, defect: Defect, says: str
) -> None:
    good = seen_with(monkeypatch, finishes_everything)
    bad = seen_with(monkeypatch, defect)

    one_side = compare_repeated([good], [bad], cassette())
    both_sides = compare_repeated([bad], [bad], cassette())

    (sentence,) = bad.unfinished
    assert sentence.startswith(says)
    assert observation_digest(good) != observation_digest(bad)
    assert one_side.verdict is CaseVerdict.DIVERGENT
    assert says in str(one_side.divergences[0].candidate)
    assert both_sides.verdict is CaseVerdict.INCONCLUSIVE
    assert says in both_sides.doubts[0]


def test_a_run_that_finishes_its_work_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = seen_with(monkeypatch, finishes_everything)

    assert seen.unfinished == ()


def test_a_stream_of_an_installed_package_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    async def drops_a_stream_of_a_package() -> None:
        names: dict[str, Any] = {}
        file = Path(sysconfig.get_path("purelib"), "package.py")
        exec(compile("async def items():\n    yield 1\n    yield 2\n", file, "exec"), names)
        async for _ in names["items"]():
            break

    assert seen_with(monkeypatch, drops_a_stream_of_a_package).unfinished == ()


def test_after_a_run_python_warns_again() -> None:
    run_cassette(cassette(), "legacy", deadline_s=20)

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        work()  # type: ignore[unused-coroutine]  # the defect that Python warns of
        gc.collect()

    assert ["was never awaited" in str(warning.message) for warning in seen] == [True]


def test_the_collector_passes_over_what_lived_before_the_run_and_only_then() -> None:
    gc.unfreeze()  # pytest has set aside what it collected
    loop = asyncio.new_event_loop()
    with unfinished_work(loop):
        during = gc.get_freeze_count()
    loop.close()

    assert during > 0
    assert gc.get_freeze_count() == 0
