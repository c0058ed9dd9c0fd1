import sys
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from seeded_faults import Behaviour, Fault, Faults, Site, faults_in
from seeded_faults.patching import replaced
from tests.seeded_faults import victims

HERE = "tests.seeded_faults.victims"
MODULE = f'''
from seeded_faults import Behaviour, Faults, Site
from seeded_faults.wrappers import returns

fault = Faults(Site.SERVICE, Behaviour.HOOKS, held_out=True)


@fault("{HERE}:greeting", origin="a review")
def greets_loudly(greeting, who):
    """Greetings are loud."""
    return greeting(who).upper()


says_nothing = fault.wrap(
    "{HERE}:greeting", returns(""), says="The greeting is empty.", origin="a test", closed_by="a/b"
)
'''
fault = Faults(Site.LEGACY, Behaviour.TOOLS)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    (tmp_path / "loud").mkdir()
    (tmp_path / "loud" / "__init__.py").write_text("")
    (tmp_path / "loud" / "greetings.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("loud", "loud.greetings"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return __import__("loud")


def test_a_fault_has_the_name_of_its_attribute(package: ModuleType) -> None:
    found = {each.name: each for each in faults_in(package)}

    assert set(found) == {"greets-loudly", "says-nothing"}
    loud, silent = found["greets-loudly"], found["says-nothing"]
    assert (loud.site, loud.behaviour, loud.held_out) == (Site.SERVICE, Behaviour.HOOKS, True)
    assert (loud.says, loud.origin) == ("Greetings are loud.", "a review")
    assert (silent.says, silent.closed_by) == ("The greeting is empty.", "a/b")


def test_a_fault_is_in_force_while_it_breaks(package: ModuleType) -> None:
    loud, silent = sorted(faults_in(package), key=lambda each: each.name)

    with loud.breaks():
        assert victims.greeting("you") == "HELLO YOU"
    with silent.breaks():
        assert victims.greeting("you") == ""
    assert victims.greeting("you") == "hello you"


def test_several_targets_are_broken_together() -> None:
    both = fault.wrap_all(
        (f"{HERE}:greeting", lambda kept: lambda who: f"{kept(who)}!"),
        (f"{HERE}:LIMIT", lambda limit: limit + 1),
        says="Both are off.",
        origin="a test",
    )(name="both")

    with both.breaks():
        assert (victims.greeting("you"), victims.LIMIT) == ("hello you!", 4)


def test_a_fault_can_be_put_in_by_a_context() -> None:
    def breaks() -> Any:
        return replaced(f"{HERE}:LIMIT", lambda _: 0)

    made = fault.breaking(breaks, says="No limit.", origin="a test", unobservable="it is a test")

    assert isinstance(made, partial)
    named = made(name="no-limit")
    with named.breaks():
        assert victims.LIMIT == 0
    assert isinstance(named, Fault)
    assert named.unobservable == "it is a test"
