import itertools
from dataclasses import fields

import pytest

from runtimes.flags import FLAGS, PHASES, Flag, flag_named, flips
from runtimes.registry import Surface
from services.settings import PARAMETERS, AdkFlags

RUNTIME = FLAGS[0]
OWN = {flag.surface: flag for flag in FLAGS if flag.surface is not None}


def settings(*on: Flag) -> AdkFlags:
    return AdkFlags(**{flag.field: True for flag in on})


def test_every_flag_of_the_settings_is_in_the_table_by_its_name_there() -> None:
    assert {flag.field for flag in FLAGS} == {field.name for field in fields(AdkFlags)}
    keys = {parameter.field: parameter.key for parameter in PARAMETERS}
    assert {flag.name for flag in FLAGS} == {keys[f"adk.{flag.field}"] for flag in FLAGS}


def test_every_surface_has_a_flag_of_its_own_and_a_phase() -> None:
    assert set(OWN) == set(Surface)
    assert set(PHASES) == set(Surface)
    assert sorted(PHASES.values()) == ["A", "B", "C"]


def test_the_runtime_flag_moves_every_surface_whose_own_flag_is_on_and_no_other() -> None:
    for count in range(4):
        for on in itertools.combinations(Surface, count):
            assert flips(RUNTIME, settings(*(OWN[surface] for surface in on))) == on


@pytest.mark.parametrize("surface", Surface)
@pytest.mark.parametrize("runtime_on", [False, True])
def test_a_surfaces_own_flag_moves_that_surface_whatever_the_others_are(
    surface: Surface, runtime_on: bool
) -> None:
    others = [flag for each, flag in OWN.items() if each is not surface]
    runtime = [RUNTIME] if runtime_on else []

    for count in range(3):
        for on in itertools.combinations(others, count):
            assert flips(OWN[surface], settings(*runtime, *on)) == (surface,)


def test_a_flag_that_is_on_already_holds_what_turning_it_on_would_move() -> None:
    own = OWN[Surface.SUBAGENT]

    assert flips(own, settings(own)) == flips(own, settings())


def test_a_flag_is_known_in_full_and_by_its_last_part() -> None:
    for flag in FLAGS:
        assert flag_named(flag.name) is flag
        assert flag_named(flag.short) is flag
    assert flag_named("adk.runtimeEnabled") is None
