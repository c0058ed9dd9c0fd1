import inspect
from collections.abc import Callable
from typing import Any

import pytest

from seeded_faults.wrappers import (
    Wrap,
    during,
    first,
    instead,
    keeps,
    only_when,
    passing,
    put,
    result,
    returns,
    then,
    twice,
)


class Part:
    def __init__(self) -> None:
        self.level = 1


class Till:
    """Notes its calls; each adds to what it holds."""

    def __init__(self) -> None:
        self.total = 0
        self.calls: list[Any] = []
        self.part = Part()

    def add(self, amount: int, *, note: str = "") -> int:
        self.calls.append((amount, note, self.part.level))
        self.total += amount
        if amount < 0:
            raise ValueError("less than nothing")
        return self.total

    async def later(self, amount: int, *, note: str = "") -> int:
        return self.add(amount, note=note)


Call = Callable[..., Any]


@pytest.fixture(params=["add", "later"])
def broken(request: pytest.FixtureRequest) -> Callable[[Wrap], Call]:
    """Break a method, a function or a coroutine function, and call it on a till."""
    good = getattr(Till, request.param)

    def made(wrap: Wrap) -> Call:
        bad = wrap(good)
        assert inspect.iscoroutinefunction(bad) == inspect.iscoroutinefunction(good)

        def call(*args: Any, **kwargs: Any) -> Any:
            found = bad(*args, **kwargs)
            if not inspect.iscoroutine(found):
                return found
            try:
                found.send(None)
            except StopIteration as stop:
                return stop.value
            raise AssertionError("it waited")

        return call

    return made


Broken = Callable[[Wrap], Call]


def test_another_function_is_called_with_the_original(broken: Broken) -> None:
    till = Till()
    call = broken(instead(lambda original, self, amount: original(self, amount + 1)))

    assert call(till, 2) == 3


def test_a_coroutine_function_can_be_called_instead() -> None:
    @instead
    async def slower(original: Any, self: Till, amount: int) -> int:
        made: int = await original(self, amount)
        return -made

    with pytest.raises(StopIteration) as stopped:
        slower(Till.later)(Till(), 2).send(None)

    assert stopped.value.value == -2


def test_a_value_is_returned_and_the_original_not_called(broken: Broken) -> None:
    till = Till()

    assert broken(returns("x"))(till, 2, note="y") == "x"
    assert till.calls == []


def test_a_result_is_changed(broken: Broken) -> None:
    assert broken(result(lambda found: found * 10))(Till(), 2) == 20


def test_the_original_is_called_where_the_condition_holds(broken: Broken) -> None:
    till = Till()
    call = broken(only_when(lambda self, amount: amount > 2))

    assert [call(till, 2), call(till, 3)] == [None, 3]
    assert len(till.calls) == 1


def test_arguments_are_changed_by_name_however_they_are_passed(broken: Broken) -> None:
    till = Till()
    call = broken(passing(amount=lambda amount: amount + 1, note=lambda note: f"<{note}>"))

    call(till, 1)
    call(till, amount=2, note="x")

    assert till.calls == [(2, "<>", 1), (3, "<x>", 1)]


def test_twice_is_twice(broken: Broken) -> None:
    assert broken(twice)(Till(), 2) == 4


def test_an_action_comes_before(broken: Broken) -> None:
    till = Till()

    assert broken(first(lambda self, amount: setattr(self, "total", amount)))(till, 2) == 4


def test_an_action_comes_after_a_call_that_succeeds(broken: Broken) -> None:
    till = Till()
    call = broken(then(put("part.level", 5)))
    with pytest.raises(ValueError, match="less"):
        call(till, -1)

    assert till.part.level == 1
    assert call(till, 4) == 3
    assert till.part.level == 5


def test_what_is_kept_is_put_back_after_a_call_that_succeeds(broken: Broken) -> None:
    till = Till()
    call = broken(keeps("total"))
    with pytest.raises(ValueError, match="less"):
        call(till, -1)

    assert till.total == -1
    assert call(till, 3) == 2
    assert till.total == -1


def test_an_attribute_is_another_during_a_call_even_a_failing_one(broken: Broken) -> None:
    till = Till()
    call = broken(during("part.level", 7))
    with pytest.raises(ValueError, match="less"):
        call(till, -1)

    assert till.calls == [(-1, "", 7)]
    assert till.part.level == 1
