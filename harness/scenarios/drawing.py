"""Two ways to draw scenarios, kept apart, over one grammar.

*Search* is Hypothesis as it is: it mutates, it repeats what was interesting, it shrinks. It finds
more, and says nothing about how often. *Sample* draws every number independently and evenly in its
range, through a backend of Hypothesis of our own; only samples count for a bound.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, Literal

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture.providers import (
    AVAILABLE_PROVIDERS,
    HypothesisProvider,
    PrimitiveProvider,
)
from hypothesis.internal.intervalsets import IntervalSet

from harness.scenarios.chooser import Chooser
from harness.scenarios.grammar.document import scenario
from harness.scenarios.profiles import Profile
from services.wire import JsonObject

__all__ = ["DrawnScenario", "Way", "block_seed", "draw_block", "scenarios"]

Way = Literal["search", "sample"]

_BACKEND: Final = "parity-sample"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DrawnScenario:
    """A scenario and the numbers that it was made of."""

    document: JsonObject
    """The cassette, named by its content."""
    choices: tuple[int, ...]
    """Every whole number drawn, in order: the scenario again, for the same grammar and profile."""

    def __repr__(self) -> str:
        """The name alone: Hypothesis prints the scenario with each failure, before its cause."""
        return f"DrawnScenario({self.document['name']!r})"


def block_seed(seed: int, profile: Profile, number: int) -> int:
    """The seed of one numbered block: who runs it, and how many others do, makes no difference."""
    text = f"{seed}/{profile.name}/{profile.digest}/{number}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def scenarios(profile: Profile) -> st.SearchStrategy[DrawnScenario]:
    """Scenarios of a profile, as a strategy."""

    @st.composite
    def drawn(draw: st.DrawFn) -> DrawnScenario:
        choices: list[int] = []

        def whole(low: int, high: int) -> int:
            choices.append(draw(st.integers(low, high)))
            return choices[-1]

        document = scenario(Chooser(whole, profile.weights), "generated/scenario")
        return DrawnScenario(document=_named(document, profile), choices=tuple(choices))

    return drawn()


def draw_block(
    way: Way,
    profile: Profile,
    block: int,
    examples: int,
    look_at: Callable[[DrawnScenario], None],
) -> None:
    """Draw `examples` scenarios of a block and hand each to `look_at`.

    `block` is the block's own seed (`block_seed`). `look_at` must not raise for a finding: it keeps
    it, and the drawing goes on. What it does raise, the termination of a worker above all, ends the
    drawing and comes out here.
    """
    sampled = way == "sample"
    source = _Source(block)
    raised: list[BaseException] = []

    @seed(block)
    @settings(
        # Hypothesis always runs the plainest example first, of its own accord: no draw of ours.
        max_examples=examples + 1 if sampled else examples,
        phases=(Phase.generate,),
        database=None,
        deadline=None,
        derandomize=False,
        suppress_health_check=list(HealthCheck),
        backend=_BACKEND if sampled else "hypothesis",
    )
    @given(scenarios(profile))
    def run(drawn: DrawnScenario) -> None:
        if not sampled or source.asked:
            try:
                look_at(drawn)
            except BaseException as error:
                # Hypothesis would take any other for a finding, keep it, and run it again.
                raised.append(error)
                raise KeyboardInterrupt from error
        source.asked = False

    token = _source.set(source)
    try:
        with _no_constants_of_the_code():
            run()
    except KeyboardInterrupt:
        if raised:
            raise raised[0] from None
        raise
    finally:
        _source.reset(token)


@contextmanager
def _no_constants_of_the_code() -> Iterator[None]:
    """Draw without the numbers that Hypothesis collects from the modules imported so far.

    Which modules those are differs between a worker and a process of its own, and between one block
    and the next: the same seed would not give the same examples.
    """
    kept = HypothesisProvider._maybe_draw_constant
    HypothesisProvider._maybe_draw_constant = (  # type: ignore[method-assign]
        lambda self, choice_type, constraints, *, p=0.05: None
    )
    try:
        yield
    finally:
        HypothesisProvider._maybe_draw_constant = kept  # type: ignore[method-assign]


def _named(document: JsonObject, profile: Profile) -> JsonObject:
    digest = hashlib.sha256(repr(document).encode("utf-8", "backslashreplace")).hexdigest()[:10]
    return {**document, "name": f"generated/{profile.name}_{digest}"}


class _Source:
    """Where a block's sample comes from, and whether the scenario at hand did."""

    def __init__(self, block: int) -> None:
        self.rng = random.Random(block)  # noqa: S311 - a seeded draw, not a secret
        self.asked = False


_source: ContextVar[_Source] = ContextVar("_source")


class IndependentProvider(PrimitiveProvider):
    """A backend that draws every number evenly and independently of all the others.

    The grammar draws whole numbers only; asking for anything else is an error of the grammar.
    """

    lifetime = "test_function"
    avoid_realization = False

    def draw_integer(
        self,
        min_value: int | None = None,
        max_value: int | None = None,
        *,
        weights: dict[int, float] | None = None,
        shrink_towards: int = 0,
    ) -> int:
        """Evenly from `min_value` to `max_value`, both included."""
        del weights, shrink_towards
        if min_value is None or max_value is None:
            raise NotImplementedError("the grammar draws from ranges with both ends")
        source = _source.get()
        source.asked = True
        return source.rng.randint(min_value, max_value)

    def draw_boolean(self, p: float = 0.5) -> bool:
        """True with probability `p`."""
        return _source.get().rng.random() < p

    def draw_float(self, **kwargs: Any) -> float:
        """Never asked for by the grammar."""
        raise NotImplementedError("the grammar draws whole numbers only")

    def draw_string(
        self, intervals: IntervalSet, *, min_size: int = 0, max_size: int = 10**10
    ) -> str:
        """Never asked for by the grammar."""
        raise NotImplementedError("the grammar draws whole numbers only")

    def draw_bytes(self, min_size: int = 0, max_size: int = 10**10) -> bytes:
        """Never asked for by the grammar."""
        raise NotImplementedError("the grammar draws whole numbers only")


AVAILABLE_PROVIDERS[_BACKEND] = f"{__name__}.IndependentProvider"
