from dataclasses import dataclass

import pytest

from seeded_faults.altered import Altered, given
from seeded_faults.patching import replaced


@dataclass(frozen=True)
class Parts:
    limit: int
    name: str


class Counter:
    def __init__(self) -> None:
        self.count = 0

    def add(self) -> int:
        self.count += 1
        return self.count


class Holder:
    def __init__(self, services: Parts, *, extra: str) -> None:
        self.services = services
        self.extra = extra


def test_the_members_named_are_exchanged_and_the_others_are_the_originals() -> None:
    counter = Counter()
    altered = Altered(counter, add=lambda: "exchanged")

    assert altered.add() == "exchanged"
    assert altered.count == 0
    assert counter.add() == 1
    assert altered.count == 1


def test_what_is_set_is_set_on_the_original() -> None:
    counter = Counter()
    altered = Altered(counter)

    altered.count = 5

    assert counter.count == 5


def test_a_member_that_neither_has_is_missed_as_ever() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        _ = Altered(Counter()).nothing


def test_an_object_is_given_services_with_one_part_exchanged() -> None:
    services = Parts(3, "kept")
    with replaced(f"{__name__}:Holder.__init__", given(limit=lambda limit: limit + 1)):
        holder = Holder(services, extra="as ever")

    assert holder.services == Parts(4, "kept")
    assert holder.extra == "as ever"
    assert services.limit == 3
