import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Collection
from typing import Any

import pytest

from harness.faults.catalogue import faults
from seeded_faults import Behaviour, Fault, Site
from seeded_faults.patching import watched


def things(targets: Collection[str]) -> dict[str, Any]:
    """What stands at each target now."""
    found: dict[str, Any] = {}
    for target in targets:
        module, _, path = target.partition(":")
        *owners, name = path.split(".")
        owner: Any = importlib.import_module(module)
        for part in owners:
            owner = getattr(owner, part)
        found[target] = inspect.getattr_static(owner, name)
    return found


@pytest.mark.parametrize("fault", faults().values(), ids=list(faults()))
def test_what_it_wraps_is_there_and_is_put_back(fault: Fault) -> None:
    with watched() as reach, fault.breaks():
        broken = things(reach.put_in)
    good = things(reach.put_in)
    with fault.breaks():
        pass

    assert broken, "it is put in by other means than `replaced`"
    assert all(good[target] is not broken[target] for target in broken)
    again = things(reach.put_in)
    assert all(again[target] is good[target] for target in good)


def test_every_fault_has_a_name_a_sentence_and_an_origin() -> None:
    for name, fault in faults().items():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
        assert fault.says.endswith(".")
        assert fault.origin
        assert fault.unobservable is None or len(fault.unobservable.split()) > 3


def test_the_catalogue_is_as_large_and_as_wide_as_was_promised() -> None:
    found = faults().values()

    assert len(found) >= 60
    assert {fault.behaviour for fault in found} == set(Behaviour)
    assert {fault.site for fault in found} == set(Site)


def test_a_run_imports_no_fault_before_faults_are_asked_for() -> None:
    code = (
        "import sys, harness.commands.run, harness.replay.runner, runtimes.adk, runtimes.legacy; "
        "import harness.faults.catalogue; "
        "print([name for name in sys.modules if '.faults.' in name and 'harness.' not in name])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


def test_a_runtime_does_not_break_another() -> None:
    for fault in faults().values():
        if fault.site is Site.SERVICE:
            continue
        with watched() as reach, fault.breaks():
            others = {"legacy", "adk"} - {fault.site}
            assert not [name for name in reach.put_in if name.split(".")[1] in others]
