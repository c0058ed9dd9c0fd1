"""Probes: where they see no difference, a run with the mutant is the same as without it."""

from __future__ import annotations

import builtins
import itertools
from collections import deque
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from harness.mutants.infection import NAME, Looks, has_probe, instrumented
from harness.mutants.mutant import Mutant
from harness.mutants.population import Population
from harness.mutants.source import CODE_ROOT
from tests.harness.mutants.samples import module, mutants_of

VALUES = (None, False, True, 0, 1, 2, "", "x", (), [], [1])


@pytest.fixture
def looks() -> Iterator[Looks]:
    looks = Looks()
    setattr(builtins, NAME, looks)
    yield looks
    delattr(builtins, NAME)


def results(text: str, *given: Any) -> Any:
    """What `run` gives or raises, and what it leaves in the object that it is given."""
    space: dict[str, Any] = {}
    exec(compile(text, "sample.py", "exec"), space)
    item = SimpleNamespace(kept=given[0], many=deque(given[1:] if given[1] else ()))
    try:
        result = space["run"](item, *given)
    except Exception as error:
        result = type(error).__name__  # its words name the operator: `<` or `<=`
    return result, type(result), item


@pytest.mark.parametrize(
    "body",
    [
        "if a: b = 7\n    return b",
        "if not a: b = 7\n    return b",
        "if a and b: return 7\n    return 8",
        "if a or b or 2: return 7\n    return 8",
        "return a and b",
        "return a or b",
        "return (a or b) and (b or a)",
        "return [x for x in (a, b) if x]",
        "return 7 if a else b",
        "return 7 if a < b else 8",
        "return 7 if a <= b else 8",
        "if a > b >= b: return 7\n    return a >= b",
        "c = a\n    c = b\n    return c",
        "item.kept = b\n    return b",
        "item.many.clear()\n    return b",
        "while a:\n        a = b = None\n    return b",
        "return a if (c := b) else c",
        "return (a,) if a else (b, 0)",
    ],
)
@pytest.mark.parametrize("returns", ["int", "str", "bool", "tuple", "list", "object"])
def test_a_probe_that_sees_nothing_means_that_the_mutant_changes_nothing(
    looks: Looks, body: str, returns: str
) -> None:
    source = module(f"def run(item, a, b) -> {returns}:\n    {body}\n")
    mutants = [mutant for mutant in mutants_of(source) if has_probe(mutant)]
    text = instrumented(source.text, {n: each.change.probe for n, each in enumerate(mutants)})
    skipped = 0

    for given in itertools.product(VALUES, VALUES):
        was = results(source.text, *given)
        looks.clear()
        assert results(text, *given) == was
        seen = looks.seen
        for number, mutant in enumerate(mutants):
            if number not in seen and not endless(mutant, source.text):
                skipped += 1
                assert results(mutant.text(source), *given) == was, mutant.diff(source)

    assert bool(skipped) is (":=" not in body)


def endless(mutant: Mutant, text: str) -> bool:
    """A loop that would not end."""
    return "while" in text and mutant.operator.value in ("drop-statement", "skip-reset")


def test_defaults_and_what_is_run_at_import_have_no_probe() -> None:
    source = module("LIMIT = 3\n\ndef run(a=4):\n    return a + 5\n")

    probed = [each.place.line for each in mutants_of(source) if has_probe(each)]

    assert set(probed) == {4}


def test_every_module_compiles_with_all_its_probes() -> None:
    population = Population.of(CODE_ROOT, ["services/policy", "runtimes/legacy"])
    for source in population.sources:
        probed = [each for each in mutants_of(source) if has_probe(each)]
        text = instrumented(source.text, {n: each.change.probe for n, each in enumerate(probed)})
        compile(text, source.file, "exec")
        assert text.count("\n") == source.text.count("\n")
