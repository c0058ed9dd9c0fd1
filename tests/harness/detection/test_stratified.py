from collections import Counter
from dataclasses import replace

import pytest

from harness.detection.stratified import stratified
from harness.faults.catalogue import faults
from seeded_faults import Behaviour, Fault, Site
from seeded_faults.patching import replaced
from tests.harness.detection.stand_ins import TRANSLATE, fault


def made(name: str, behaviour: Behaviour, site: Site = Site.ADK) -> Fault:
    plain = fault(name, lambda: replaced(TRANSLATE, lambda kept: kept))
    return replace(plain, behaviour=behaviour, site=site)


def of(behaviour: Behaviour, count: int, site: Site = Site.ADK) -> list[Fault]:
    return [made(f"{behaviour}-{site}-{number}", behaviour, site) for number in range(count)]


def counted(chosen: list[Fault]) -> dict[Behaviour, int]:
    return dict(Counter(each.behaviour for each in chosen))


def test_classes_get_their_share_and_small_ones_four_at_least() -> None:
    pool = [*of(Behaviour.TOOLS, 60), *of(Behaviour.HOOKS, 30), *of(Behaviour.LOOPS, 5)]

    assert counted(stratified(pool, 30, 1)) == {
        Behaviour.TOOLS: 17,
        Behaviour.HOOKS: 9,
        Behaviour.LOOPS: 4,
    }


def test_sites_get_their_share_of_a_class() -> None:
    pool = [*of(Behaviour.TOOLS, 30, Site.SERVICE), *of(Behaviour.TOOLS, 10, Site.LEGACY)]

    chosen = stratified(pool, 8, 1)

    assert Counter(each.site for each in chosen) == {Site.SERVICE: 6, Site.LEGACY: 2}


def test_unobservable_ones_are_never_drawn() -> None:
    dead = [replace(each, unobservable="no") for each in of(Behaviour.TOOLS, 5)]
    pool = [*dead, *of(Behaviour.HOOKS, 5)]

    assert counted(stratified(pool, 99, 1)) == {Behaviour.HOOKS: 5}


@pytest.mark.parametrize("size", [1, 3, 9, 10, 60, 509, 510, 9999])
def test_as_many_are_drawn_as_were_asked_for(size: int) -> None:
    pool = list(faults().values())
    observable = sum(each.unobservable is None for each in pool)

    chosen = stratified(pool, size, 7)

    assert len(chosen) == min(size, observable)
    names = [each.name for each in chosen]
    assert names == [each.name for each in pool if each.name in set(names)]


def test_a_seed_draws_the_same_and_another_one_others() -> None:
    pool = list(faults().values())

    first, again, other = ([each.name for each in stratified(pool, 60, seed)] for seed in (1, 1, 2))

    assert first == again
    assert first != other


def test_every_fault_is_drawn_by_some_seed() -> None:
    pool = of(Behaviour.TOOLS, 12)

    drawn = {each.name for seed in range(60) for each in stratified(pool, 4, seed)}

    assert drawn == {each.name for each in pool}


def test_nothing_is_drawn_from_nothing() -> None:
    assert stratified([], 5, 1) == []
