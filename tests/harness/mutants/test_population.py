"""The population of mutants: which modules they are of."""

from harness.mutants.population import Population
from harness.mutants.source import CODE_ROOT


def test_what_checks_a_runtime_is_not_mutated() -> None:
    files = {source.file for source in Population.of(CODE_ROOT, ["runtimes"]).sources}
    assert "runtimes/adk/plugins/hook_bridge.py" in files
    assert "runtimes/adk/plugins/inspecting.py" not in files
    assert not [file for file in files if "/faults/" in file]
