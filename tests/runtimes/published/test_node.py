from pathlib import Path

import pytest

from runtimes.published import UpstreamUnavailable, find_node
from runtimes.published.node import find_npm
from tests.runtimes.published.stand_ins import Machine

MEND = "install node 20 or newer, or name one with PARITY_NODE"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine.make(tmp_path, monkeypatch)


def problem() -> tuple[str, str]:
    with pytest.raises(UpstreamUnavailable) as caught:
        find_node()
    return caught.value.problem, caught.value.mend


def test_node_is_found_on_the_path_and_asked_once(machine: Machine) -> None:
    assert find_node() == find_node() == machine.bin / "node"
    assert (machine.bin / "node.calls").read_text() == "x\n"


def test_the_variable_names_another_node(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    other = machine.node("v26.0.0-pre", name="node26")
    monkeypatch.setenv("PARITY_NODE", str(other))

    assert find_node() == other


def test_a_missing_node_is_an_error(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    (machine.bin / "node").unlink()
    assert problem() == ("node is not on PATH, and the published core needs it", MEND)

    monkeypatch.setenv("PARITY_NODE", "/nowhere/node")
    assert problem() == ("PARITY_NODE names no program: /nowhere/node", MEND)


def test_the_error_for_an_old_node_names_its_path_and_is_not_cached(machine: Machine) -> None:
    node = machine.node("v18.19.1")
    old = f"{node} is node 18.19.1, and the published core needs 20 or newer"
    assert problem() == (old, MEND)

    machine.node("v20.0.0")
    assert find_node() == node


def test_a_program_that_is_no_node_is_an_error(machine: Machine) -> None:
    node = machine.node("hello")
    gave = f"{node} does not say which node it is: `--version` gave 'hello'"
    assert problem() == (gave, MEND)

    machine.script("node", "#!/bin/sh\nexit 3\n")
    assert problem()[0].startswith(f"{node} cannot be run: ")

    machine.script("node", "#!/nowhere/sh\n")
    assert problem()[0].startswith(f"{node} cannot be run: ")


def test_the_npm_beside_node_comes_before_the_one_on_the_path(
    machine: Machine, tmp_path: Path
) -> None:
    own = tmp_path / "node-26"
    own.mkdir()
    node = machine.node().rename(own / "node")
    assert find_npm(node) == machine.bin / "npm"

    (own / "npm").write_text("#!/bin/sh\n")
    (own / "npm").chmod(0o755)
    assert find_npm(node) == own / "npm"

    link = tmp_path / "node"
    link.symlink_to(node)
    assert find_npm(link) == own / "npm"


def test_a_missing_npm_is_an_error(machine: Machine) -> None:
    (machine.bin / "npm").unlink()
    node = machine.bin / "node"

    with pytest.raises(UpstreamUnavailable) as caught:
        find_npm(node)

    assert caught.value.problem == f"there is no npm, neither beside {node} nor on PATH"
    assert caught.value.mend.startswith("install npm; it comes with node")
