"""Two ways to draw scenarios from one grammar.

*Search* is ordinary Hypothesis, which mutates interesting examples: it finds more, and shows no
rate. *Sample* draws every number independently and evenly, through our own backend of Hypothesis;
only samples count for a bound.
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
from harness.scenarios.grammar.own_tools import own_scenario
from harness.scenarios.profiles import Profile
from services.wire import JsonObject

__all__ = ["DrawnScenario", "Way", "block_seed", "draw_block", "scenarios"]

Way = Literal["search", "sample"]

_BACKEND: Final = "parity-sample"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DrawnScenario:
    """A scenario and the numbers that it was drawn from."""

    document: JsonObject
    """The cassette, named by its content."""
    choices: tuple[int, ...]
    """Every drawn number, in order; with grammar and profile they determine the scenario."""

    def __repr__(self) -> str:
        """Only the name: Hypothesis prints the scenario with each failure."""
        return f"DrawnScenario({self.document['name']!r})"


def block_seed(seed: int, profile: Profile, number: int) -> int:
    """The seed of one numbered block."""
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

        document = _drawn(Chooser(whole, profile.weights), profile)
        return DrawnScenario(document=_named(document, profile), choices=tuple(choices))

    return drawn()


def _drawn(choose: Chooser, profile: Profile) -> JsonObject:
    if profile.tools is None:
        return scenario(choose, "generated/scenario")
    return own_scenario(choose, "generated/scenario", profile.tools)


def draw_block(
    way: Way,
    profile: Profile,
    block: int,
    examples: int,
    look_at: Callable[[DrawnScenario], None],
) -> None:
    """Draw `examples` scenarios of a block and pass each to `look_at`.

    `block` is the block's seed (`block_seed`). `look_at` does not raise for a finding. What it
    raises, above all the termination of a worker, ends the drawing and is raised here.
    """
    sampled = way == "sample"
    source = _Source(block)
    raised: list[BaseException] = []

    @seed(block)
    @settings(
        # Hypothesis runs the plainest example first, which is no draw of the sample.
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
                # Hypothesis would keep any other error as a failure, and run the example again.
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
    """Draw without the constants that Hypothesis collects from imported modules.

    Those differ between processes and blocks: the same seed would not give the same examples.
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
    """The random source of a block's sample, and whether the current scenario used it."""

    def __init__(self, block: int) -> None:
        self.rng = random.Random(block)  # noqa: S311 - a seeded draw, not a secret
        self.asked = False


_source: ContextVar[_Source] = ContextVar("_source")


class IndependentProvider(PrimitiveProvider):
    """A backend that draws every number evenly and independently; only whole numbers."""

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
        """Unused by the grammar."""
        raise NotImplementedError("the grammar draws whole numbers only")

    def draw_string(
        self, intervals: IntervalSet, *, min_size: int = 0, max_size: int = 10**10
    ) -> str:
        """Unused by the grammar."""
        raise NotImplementedError("the grammar draws whole numbers only")

    def draw_bytes(self, min_size: int = 0, max_size: int = 10**10) -> bytes:
        """Unused by the grammar."""
        raise NotImplementedError("the grammar draws whole numbers only")


AVAILABLE_PROVIDERS[_BACKEND] = f"{__name__}.IndependentProvider"
