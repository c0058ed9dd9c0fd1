import asyncio
import errno
from pathlib import Path

import pytest

from services.child_start import program_output, start_child
from services.confinement import (
    Confinement,
    Refusal,
    Refused,
    Seam,
    confined,
    may_connect,
    may_start,
)


def test_a_session_that_is_not_confined_may_do_both() -> None:
    may_start("true")
    may_connect("http://127.0.0.1:1/")


def test_a_confined_session_reports_the_attempt_and_raises() -> None:
    seen: list[Refusal] = []

    with confined(Confinement(seen.append)):
        with pytest.raises(Refused) as start:
            may_start("touch x")
        with pytest.raises(Refused):
            may_connect("http://example.invalid/")

    assert seen == [
        Refusal(seam=Seam.PROCESS, what="touch x"),
        Refusal(seam=Seam.CONNECTION, what="http://example.invalid/"),
    ]
    assert start.value.errno == errno.EACCES
    assert start.value.refusal == seen[0]


def test_the_confinement_ends_with_its_block() -> None:
    seen: list[Refusal] = []

    with confined(Confinement(seen.append)):
        pass
    may_start("true")

    assert seen == []


async def test_tasks_side_by_side_have_their_own() -> None:
    seen: list[Refusal] = []
    inside, done = asyncio.Event(), asyncio.Event()

    async def first() -> None:
        with confined(Confinement(seen.append)):
            inside.set()
            await done.wait()
            with pytest.raises(Refused):
                may_start("confined")

    async def second() -> None:
        await inside.wait()
        may_start("free")
        done.set()

    async with asyncio.TaskGroup() as group:
        group.create_task(first())
        group.create_task(second())

    assert [each.what for each in seen] == ["confined"]


async def test_threads_that_a_confined_session_starts_are_confined() -> None:
    with confined(Confinement(lambda refusal: None)), pytest.raises(Refused):
        await asyncio.to_thread(may_start, "true")


async def test_no_child_starts_in_a_confined_session(tmp_path: Path) -> None:
    seen: list[Refusal] = []

    async def end(child: asyncio.SubprocessProtocol) -> None:
        raise AssertionError("nothing was started")

    with confined(Confinement(seen.append)):
        with pytest.raises(Refused):
            await start_child(
                asyncio.SubprocessProtocol,
                "touch",
                str(tmp_path / "marker"),
                folder=tmp_path,
                environment={},
                end=end,
            )
        with pytest.raises(Refused):
            program_output("touch", str(tmp_path / "marker"))

    assert [each.what for each in seen] == [f"touch {tmp_path / 'marker'}"] * 2
    assert list(tmp_path.iterdir()) == []
