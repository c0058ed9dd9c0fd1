import os
import sys
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from harness import inventory
from harness.inventory import (
    Component,
    Inventory,
    changes,
    code_components,
    code_digest,
    environment,
    files_component,
    helpers_component,
    installed_distributions,
    layered_component,
    waivers_component,
)

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
BUNDLED = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"].values()
"""Where a wheel has what lies outside the packages in a checkout."""

WAIVER = """format = 1
# why
[[waiver]]
id = "W-1"
expires = 2026-12-31
[[waiver]]
id = "W-2"
expires = 2026-12-31
"""


def packages(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A build of its own: one file in each package."""
    for package in inventory.PACKAGES:
        (folder / package).mkdir(parents=True)
        (folder / package / "x.py").write_text("x")
    for room in ("services", "runtimes/legacy"):
        (folder / room / "faults").mkdir(parents=True)
        (folder / room / "faults" / "f.py").write_text("f")
    monkeypatch.setattr(inventory, "_PACKAGES", folder)
    return folder


def code_now() -> dict[str, Component]:
    return dict(code_components.__wrapped__())


@pytest.mark.parametrize("place", BUNDLED)
def test_a_wheel_and_its_checkout_have_equal_digests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """A journal that one of them left is fresh in the other."""
    root = packages(tmp_path, monkeypatch)
    checkout = Inventory(code_now()).digests
    target = root / place
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.suffix:
        target.write_text("bundled")
    else:
        target.mkdir()
        (target / "x.md").write_text("bundled")

    assert Inventory(code_now()).digests == checkout


def test_code_is_listed_by_package_and_the_fault_catalogue_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages(tmp_path, monkeypatch)

    found = {name: list(component.files) for name, component in code_now().items()}

    assert found == {
        "agent_protocol": ["agent_protocol/x.py"],
        "services": ["services/x.py"],
        "runtimes": ["runtimes/x.py"],
        "surfaces": ["surfaces/x.py"],
        "harness": ["harness/x.py", "seeded_faults/x.py"],
        "adapters": ["adapters/x.py"],
        "fault catalogue": ["services/faults/f.py", "runtimes/legacy/faults/f.py"],
    }


@pytest.mark.parametrize("name", ["driver.mjs", "page.html.j2", "report.css", "deep/er/x.py"])
def test_data_beside_the_code_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    root = packages(tmp_path, monkeypatch)
    before = Inventory(code_now())
    file = root / "runtimes" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("new")

    assert before.differences(Inventory(code_now())) == [f"runtimes: runtimes/{name} new"]


@pytest.mark.parametrize(
    "name",
    [
        "harness/__pycache__/x.cpython-311.pyc",
        "harness/corpus/a/1.yaml",
        "harness/baselines/upstream/a/1.json",
        "harness/contract.md",
    ],
)
def test_what_is_compiled_or_bundled_is_no_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    root = packages(tmp_path, monkeypatch)
    before = Inventory(code_now()).digests
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("new")

    assert Inventory(code_now()).digests == before


def test_a_compiled_file_among_the_sources_is_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = packages(tmp_path, monkeypatch)
    before = Inventory(code_now())
    (root / "services" / "wire").mkdir()
    (root / "services" / "wire" / "__init__.pyc").write_text("loaded before wire.py")

    assert before.differences(Inventory(code_now())) == ["services: services/wire/__init__.pyc new"]


def test_a_program_beside_the_cassettes_is_a_component_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "mcp" / "one.yaml"
    file.parent.mkdir()
    file.write_text("")
    (tmp_path / "mcp_server.py").write_text("answer = 1")
    (tmp_path / "README.md").write_text("read")

    assert set(helpers_component([("mcp/one", file)]).files) == {"mcp_server.py"}


def test_the_real_code_has_what_it_consists_of() -> None:
    found = code_components()

    assert "harness/inventory.py" in found["harness"].files
    assert any(name.endswith("/driver.mjs") for name in found["runtimes"].files)
    assert len(found["fault catalogue"].files) > 5
    assert not set(found["fault catalogue"].files) & set(found["harness"].files)
    assert len(code_digest(Inventory(found).digests)) == 12


def test_one_byte_of_one_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = packages(tmp_path, monkeypatch)
    before = Inventory(code_now())
    (root / "services" / "x.py").write_text("y")

    assert before.differences(Inventory(code_now())) == ["services: services/x.py changed"]
    assert code_digest(before.digests) != code_digest(Inventory(code_now()).digests)


def test_many_changes_are_named_by_the_first_and_counted() -> None:
    was = Inventory({"corpus": Component({f"a/{n}": "1" for n in range(9)})})
    now = Inventory({"corpus": Component({f"a/{n}": "2" for n in range(9)})})

    assert was.differences(now) == ["corpus: a/0 changed, a/1 changed, a/2 changed and 6 more"]


def test_changes_are_named_by_their_kind() -> None:
    found = changes({"a": "1", "b": "1", "c": "1"}, {"a": "1", "b": "2", "d": "1"})

    assert found == {"b": "changed", "c": "gone", "d": "new"}


def test_a_component_of_nothing_has_no_digest_and_files_that_are_not_there_are_none(
    tmp_path: Path,
) -> None:
    assert files_component([("a", tmp_path / "gone")]).digest == ""


def test_a_file_that_cannot_be_read_is_not_as_if_it_were_not_there(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()

    assert files_component([("a", tmp_path / "folder")]).files == {"a": "unreadable"}


def test_names_and_contents_make_a_digest_and_their_order_does_not(tmp_path: Path) -> None:
    for name in ("1", "2"):
        (tmp_path / name).write_text(name)
    one, two = ("a", tmp_path / "1"), ("b", tmp_path / "2")

    digest = files_component([one, two]).digest

    assert digest == files_component([two, one]).digest
    assert digest != files_component([("a", tmp_path / "1"), ("c", tmp_path / "2")]).digest
    assert digest != files_component([("b", tmp_path / "1"), ("a", tmp_path / "2")]).digest


def test_a_waiver_that_changed_is_named_by_its_id(tmp_path: Path) -> None:
    file = tmp_path / "waivers.toml"
    file.write_text(WAIVER)
    was = Inventory({"waivers": waivers_component(file)})
    file.write_text(WAIVER.replace("12-31\n[[", "12-30\n[["))

    assert was.differences(Inventory({"waivers": waivers_component(file)})) == [
        "waivers: W-1 changed"
    ]


def test_a_comment_among_the_waivers_changes_the_file_and_no_waiver(tmp_path: Path) -> None:
    file = tmp_path / "waivers.toml"
    file.write_text(WAIVER)
    was = Inventory({"waivers": waivers_component(file)})
    file.write_text(WAIVER.replace("why", "because"))

    assert was.differences(Inventory({"waivers": waivers_component(file)})) == [
        "waivers: changed, but in no named file"
    ]


@pytest.mark.parametrize("text", ["no toml [", "waiver = 1", "[[waiver]]\nno = 1"])
def test_a_waivers_file_that_is_none_still_has_a_digest(tmp_path: Path, text: str) -> None:
    file = tmp_path / "waivers.toml"
    file.write_text(text)

    assert waivers_component(file).digest
    assert waivers_component(file).parts == {}
    assert waivers_component(None) == waivers_component(tmp_path / "gone") == Component()


def test_where_folders_are_does_not_count_and_what_is_in_each_does(tmp_path: Path) -> None:
    for place, text in (("here", "1"), ("there", "1"), ("other", "2")):
        (tmp_path / place).mkdir()
        (tmp_path / place / "a.json").write_text(text)
    here, there, other = (tmp_path / name for name in ("here", "there", "other"))
    gone = tmp_path / "gone"

    one = layered_component([gone, here], ["a.json"])

    assert one == layered_component([there], ["a.json"])
    assert one == layered_component([here, there, here], ["a.json", "b.json"])
    assert list(layered_component([here, other], ["a.json"]).files) == ["a.json", "a.json (2)"]


def test_the_environment_names_what_can_show() -> None:
    found = environment()

    assert found["python"].startswith("CPython 3.")
    assert found["core"] == "0.61.0"
    assert found["google-adk"] == installed_distributions()["google-adk"]
    assert "node" not in found


def test_node_and_the_cores_version_stand_there_when_the_core_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = tmp_path / "node"
    node.write_text("#!/bin/sh\necho v22.1.0\n")
    node.chmod(0o755)
    monkeypatch.setenv("PARITY_NODE", str(node))
    inventory._node_version.cache_clear()

    found = environment(["legacy", "upstream@0.60.0"])
    inventory._node_version.cache_clear()

    assert (found["node"], found["core"]) == ("22.1.0", "0.60.0")


def test_a_core_without_node_has_no_version_of_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARITY_NODE", os.devnull)
    inventory._node_version.cache_clear()

    found = environment(["upstream"])
    inventory._node_version.cache_clear()

    assert found["node"] == ""


def test_every_installed_distribution_is_there_the_first_on_the_path_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place, name in (
        ("one", "Some_Thing-1.0.dist-info"),
        ("one", "old.name-2.0-py3.11.egg-info"),
        ("one", "no_dash.dist-info"),
        ("two", "some_thing-3.0.dist-info"),
    ):
        (tmp_path / place / name).mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(tmp_path / name) for name in ("gone", "one", "two")])

    assert installed_distributions.__wrapped__() == {"old-name": "2.0", "some-thing": "1.0"}


def test_the_packages_that_the_project_asks_for_are_known_without_an_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def not_installed(_: str) -> list[str]:
        raise PackageNotFoundError

    monkeypatch.setattr(inventory, "requires", not_installed)

    assert {"parity", "click", "google-adk"} <= set(inventory._asked_for.__wrapped__())
