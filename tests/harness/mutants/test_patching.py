"""Each kind of function, class and constant: what a mutant of it does once it is put in."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from harness.mutants.forked import Answer, Forked, Raised
from harness.mutants.patching import LiveCode, Text, exchanges, import_anew, put_in

NAME = "mutants_patched_sample"
SAMPLE = """
import asyncio
import contextlib
import dataclasses
import functools


def plain(x):
    return x + 1


def outer(x):
    def inner(y):
        return [y + 2 for _ in range(1)][0]

    return (lambda z: inner(z) * 10)(x)


def decorator(function):
    @functools.wraps(function)
    def around(*args):
        return function(*args) + 100

    return around


@decorator
def decorated(x):
    return x + 3


@functools.cache
def cached(x):
    return x + 4


def make(step):
    def made(x):
        return x + step + 5

    return made


MADE = make(1000)


class Base:
    def over(self, x):
        return x + 6


@dataclasses.dataclass(frozen=True)
class Thing(Base):
    size: int = 7

    def method(self, x):
        return x + 8

    def over(self, x):
        return super().over(x) + 9

    @property
    def shown(self):
        return self.size + 10

    @staticmethod
    def static(x):
        return x + 11

    @classmethod
    def of_class(cls, x):
        return x + 12

    async def later(self, x):
        await asyncio.sleep(0)
        return x + 13

    def steps(self, x):
        yield x + 14


@contextlib.contextmanager
def held(x):
    yield x + 15


LIMIT = 16


def limited(x, more=17):
    return x + LIMIT + more
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("sample")
    place = folder / f"{NAME}.py"
    place.write_text(SAMPLE)
    sys.path.insert(0, str(folder))
    importlib.import_module(NAME)
    yield place
    sys.path.remove(str(folder))
    del sys.modules[NAME]


def text(file: Path, was: str, becomes: str) -> Text:
    assert SAMPLE.count(was) == 1
    return Text(NAME, file, SAMPLE, SAMPLE.replace(was, becomes))


def sample() -> Any:
    return sys.modules[NAME]


def awaited(x: int) -> int:
    import asyncio

    result: int = asyncio.run(sample().Thing().later(x))
    return result


def with_held(x: int) -> int:
    with sample().held(x) as value:
        result: int = value
    return result


IN_PLACE: list[tuple[str, str, str, Callable[[int], int]]] = [
    ("plain", "x + 1\n", "x - 1\n", lambda x: sample().plain(x)),
    ("outer", "[y + 2 for", "[y - 2 for", lambda x: sample().outer(x)),
    ("outer", "* 10)", "* 11)", lambda x: sample().outer(x)),
    ("decorator", "+ 100", "+ 200", lambda x: sample().decorated(x)),
    ("decorated", "x + 3", "x - 3", lambda x: sample().decorated(x)),
    ("cached", "x + 4", "x - 4", lambda x: sample().cached(x)),
    ("make", "step + 5", "step - 5", lambda x: sample().MADE(x)),
    ("Base.over", "x + 6", "x - 6", lambda x: sample().Thing().over(x)),
    ("Thing.method", "x + 8", "x - 8", lambda x: sample().Thing().method(x)),
    ("Thing.over", "over(x) + 9", "over(x) - 9", lambda x: sample().Thing().over(x)),
    ("Thing.shown", "self.size + 10", "self.size - 10", lambda x: x + sample().Thing().shown),
    ("Thing.static", "x + 11", "x - 11", lambda x: sample().Thing.static(x)),
    ("Thing.of_class", "x + 12", "x - 12", lambda x: sample().Thing.of_class(x)),
    ("Thing.later", "x + 13", "x - 13", awaited),
    ("Thing.steps", "x + 14", "x - 14", lambda x: next(sample().Thing().steps(x))),
    ("held", "x + 15", "x - 15", with_held),
]


@pytest.mark.parametrize(("function", "was", "becomes", "call"), IN_PLACE)
def test_the_code_of_a_live_function_is_exchanged(
    file: Path, function: str, was: str, becomes: str, call: Callable[[int], int]
) -> None:
    live = LiveCode(file.parent)
    before = call(5)  # what is cached by now must be forgotten
    found = exchanges(text(file, was, becomes), function, live)
    assert found is not None

    def prepare() -> Answer:
        put_in(found)
        sample().cached.cache_clear()
        return call

    with Forked(prepare, cpu_s=30, wall_s=30) as process:
        mutated = process.ask(5)

    expected: dict[str, Any] = {}
    module = ModuleType(NAME)
    exec(compile(SAMPLE.replace(was, becomes), str(file), "exec"), module.__dict__)
    kept, sys.modules[NAME] = sys.modules[NAME], module
    try:
        expected["value"] = call(5)
    finally:
        sys.modules[NAME] = kept
    assert mutated == expected["value"] != before
    assert call(5) == before


def test_what_is_computed_at_import_cannot_be_exchanged(file: Path) -> None:
    live = LiveCode(file.parent)

    assert exchanges(text(file, "LIMIT = 16", "LIMIT = 17"), "", live) is None


def test_a_function_that_needs_other_variables_of_its_surroundings_is_not_exchanged(
    file: Path,
) -> None:
    live = LiveCode(file.parent)

    assert exchanges(text(file, "x + step + 5", "x + 5"), "make", live) is None


def test_a_function_that_does_not_exist_is_not_exchanged(file: Path) -> None:
    live = LiveCode(file.parent)

    assert exchanges(text(file, "x + 1\n", "x - 1\n"), "no_such", live) is None
    other = Text("mutants_not_imported", file, SAMPLE, SAMPLE)
    assert exchanges(other, "plain", live) is None


def test_importing_anew_puts_a_changed_constant_everywhere() -> None:
    from harness import sides
    from harness.mutants.source import CODE_ROOT

    place = CODE_ROOT / "harness" / "sides.py"
    original = place.read_text()
    assert sides.baseline_folder("baseline:x") is not None
    changed = original.replace('"baseline:"', '"line:"')
    assert changed != original
    text = Text("harness.sides", place, original, changed)

    def prepare() -> Answer:
        import_anew(text, ["harness.experiment.case"])
        user = sys.modules["harness.experiment.case"]
        return lambda side: str(user.__dict__["baseline_folder"](side))

    with Forked(prepare, cpu_s=60, wall_s=60) as process:
        assert process.ask("baseline:x") == "None"
        assert process.ask("line:x") == "x"
    assert sides.baseline_folder("baseline:x") is not None


def test_a_module_that_cannot_be_imported_any_more_is_said() -> None:
    from harness.mutants.source import CODE_ROOT

    place = CODE_ROOT / "harness" / "sides.py"
    text = Text("harness.sides", place, "", "raise KeyError('gone')\n")

    def prepare() -> Answer:
        import_anew(text, ["harness.experiment.case"])
        return lambda _: None

    with Forked(prepare, cpu_s=60, wall_s=60) as process:
        assert process.ask(None) == Raised("KeyError: 'gone'")
