import asyncio
import inspect
from collections.abc import Callable
from typing import Any

import pytest

from seeded_faults.patching import UnknownTarget, all_of, replaced, watched
from tests.seeded_faults import victims
from tests.seeded_faults.victims import Base, Victim

HERE = "tests.seeded_faults.victims"


def louder(kept: Callable[..., Any]) -> Callable[..., Any]:
    def broken(*args: Any, **kwargs: Any) -> Any:
        return f"{kept(*args, **kwargs)}!"

    return broken


def read(how: str) -> Any:
    async def streamed() -> list[int]:
        return [number async for number in Victim().stream()]

    found: dict[str, Callable[[], Any]] = {
        "greeting": lambda: victims.greeting("you"),
        "Victim.method": lambda: Victim().method("a"),
        "Victim.static": lambda: Victim.static("a"),
        "Victim.of_class": lambda: Victim.of_class("a"),
        "Victim.inherited": lambda: Victim().inherited(),
        "Victim.size": lambda: Victim().size,
        "Victim.numbers": lambda: list(Victim().numbers()),
        "Victim.awaited": lambda: asyncio.run(Victim().awaited()),
        "Victim.stream": lambda: asyncio.run(streamed()),
        "LIMIT": lambda: victims.LIMIT,
    }
    return found[how]()


def fewer(kept: Any) -> Any:
    def broken(self: Any) -> Any:
        found = iter(kept(self))
        next(found)
        return found

    return broken


def fewer_awaited(kept: Any) -> Any:
    async def broken(self: Any) -> Any:
        async for number in kept(self):
            if number > 1:
                yield number

    return broken


def awaited_louder(kept: Any) -> Any:
    async def broken(self: Any) -> str:
        return f"{await kept(self)}!"

    return broken


CASES: list[tuple[str, Callable[[Any], Any], Any, Any]] = [
    ("greeting", louder, "hello you", "hello you!"),
    ("Victim.method", louder, "method a", "method a!"),
    ("Victim.static", louder, "static a", "static a!"),
    ("Victim.of_class", louder, "Victim a", "Victim a!"),
    ("Victim.inherited", louder, "inherited", "inherited!"),
    ("Victim.size", louder, 1, "1!"),
    ("Victim.numbers", fewer, [1, 2], [2]),
    ("Victim.awaited", awaited_louder, "awaited", "awaited!"),
    ("Victim.stream", fewer_awaited, [1, 2], [2]),
    ("LIMIT", lambda kept: kept + 1, 3, 4),
]
EVERY = pytest.mark.parametrize(("target", "wrap", "good", "bad"), CASES)
COUNTED = pytest.mark.parametrize("target", [case[0] for case in CASES if case[0] != "LIMIT"])


@EVERY
def test_every_kind_of_target_is_broken_and_put_back(
    target: str, wrap: Callable[[Any], Any], good: Any, bad: Any
) -> None:
    assert read(target) == good
    with replaced(f"{HERE}:{target}", wrap):
        assert read(target) == bad
    assert read(target) == good


@EVERY
def test_an_exception_puts_it_back_too(
    target: str, wrap: Callable[[Any], Any], good: Any, bad: Any
) -> None:
    before = dict(vars(Victim)), dict(vars(victims))

    with pytest.raises(ZeroDivisionError), replaced(f"{HERE}:{target}", wrap):
        raise ZeroDivisionError

    assert (dict(vars(Victim)), dict(vars(victims))) == before


def test_breaking_what_is_inherited_leaves_the_base_alone() -> None:
    with replaced(f"{HERE}:Victim.inherited", louder):
        assert Base().inherited() == "inherited"
    assert "inherited" not in vars(Victim)


def test_a_property_can_still_be_set() -> None:
    with replaced(f"{HERE}:Victim.size", louder):
        victim = Victim()
        victim.size = 5
        assert str(victim.size) == "5!"


def test_several_replacements_go_in_and_out_together() -> None:
    parts = (replaced(f"{HERE}:greeting", louder), replaced(f"{HERE}:LIMIT", lambda kept: 0))

    with all_of(*parts):
        assert (victims.greeting("you"), victims.LIMIT) == ("hello you!", 0)

    assert (victims.greeting("you"), victims.LIMIT) == ("hello you", 3)


def test_of_several_none_stays_in_when_the_last_is_gone() -> None:
    parts = (replaced(f"{HERE}:greeting", louder), replaced(f"{HERE}:gone", louder))

    with pytest.raises(UnknownTarget), all_of(*parts):
        pass

    assert victims.greeting("you") == "hello you"


@pytest.mark.parametrize("target", ["gone", "Victim.gone", "Gone.method"])
def test_a_target_that_is_gone_is_named(target: str) -> None:
    with (
        pytest.raises(UnknownTarget, match=f"{HERE}:{target}"),
        replaced(f"{HERE}:{target}", louder),
    ):
        pass


def test_a_module_that_is_gone_is_named() -> None:
    with (
        pytest.raises(UnknownTarget, match=r"tests\.gone:name"),
        replaced("tests.gone:name", louder),
    ):
        pass


@COUNTED
def test_a_watched_replacement_knows_whether_it_was_called(target: str) -> None:
    with watched() as reach, replaced(f"{HERE}:{target}", lambda kept: kept):
        before = set(reach.called)
        good = read(target)
    case = next(case for case in CASES if case[0] == target)

    assert before == set()
    assert reach.called == reach.put_in == {f"{HERE}:{target}"}
    assert good == case[2]


def test_a_constant_cannot_be_counted() -> None:
    with watched() as reach, replaced(f"{HERE}:LIMIT", lambda kept: kept):
        assert victims.LIMIT == 3

    assert reach.uncounted == {f"{HERE}:LIMIT"}


def test_a_class_is_replaced_as_it_is() -> None:
    with watched() as reach, replaced(f"{HERE}:Victim", lambda kept: type("Other", (kept,), {})):
        assert inspect.isclass(victims.Victim)
        assert victims.Victim is not Victim

    assert reach.uncounted == {f"{HERE}:Victim"}


def test_a_function_that_stands_in_for_a_class_is_not_counted() -> None:
    with watched() as reach, replaced(f"{HERE}:Victim", lambda kept: lambda: kept()):
        victims.Victim()

    assert reach.uncounted == {f"{HERE}:Victim"}
    assert not reach.called


def test_a_coroutine_function_stays_one_while_watched() -> None:
    with watched(), replaced(f"{HERE}:Victim.awaited", awaited_louder):
        assert inspect.iscoroutinefunction(Victim.awaited)


def test_without_watchers_the_wrapper_itself_is_installed() -> None:
    def mine(self: Any, word: str) -> str:
        return word

    with replaced(f"{HERE}:Victim.method", lambda kept: mine):
        assert vars(Victim)["method"] is mine


def test_watching_ends() -> None:
    with watched() as reach:
        pass
    with replaced(f"{HERE}:greeting", louder):
        victims.greeting("you")

    assert reach.put_in == set()
