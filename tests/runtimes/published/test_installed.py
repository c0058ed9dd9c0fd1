import os
import pickle
from pathlib import Path

import pytest

from runtimes.published import (
    InstalledVersion,
    UpstreamUnavailable,
    check_available,
    details,
    installed_versions,
    package_folder,
    remove,
)
from tests.runtimes.published.stand_ins import Machine


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine.make(tmp_path, monkeypatch)


def test_complete_installs_are_listed_in_the_order_of_versions(machine: Machine) -> None:
    assert installed_versions() == []
    for version in ["0.61.0", "0.9.0", "0.61.0-nightly.2", "0.61.0-nightly.10"]:
        machine.has(version)

    assert installed_versions() == ["0.9.0", "0.61.0-nightly.2", "0.61.0-nightly.10", "0.61.0"]


def test_what_is_not_a_complete_install_does_not_count(machine: Machine) -> None:
    machine.has("0.60.0", says="0.59.0")
    machine.has("latest", says="0.61.0")
    machine.has(".leftover-x", says="0.61.0")
    (machine.upstream / "0.58.0").mkdir()
    machine.has("0.57.0")
    package_json = package_folder("0.57.0") / "package.json"
    package_json.write_text("{")

    assert installed_versions() == []
    package_json.write_text("[]")
    assert installed_versions() == []


def test_the_package_folder_is_absolute_and_holds_the_package(machine: Machine) -> None:
    folder = machine.has("0.60.0")

    assert package_folder("0.60.0") == folder / "node_modules/@google/gemini-cli-core"
    assert (package_folder("0.60.0") / "package.json").is_file()


@pytest.mark.parametrize(
    ("version", "command"),
    [
        ("0.60.0", "parity upstream install --version 0.60.0"),
        ("0.61.0", "parity upstream install"),
    ],
)
def test_a_version_that_is_not_installed_names_the_command(
    machine: Machine, version: str, command: str
) -> None:
    with pytest.raises(UpstreamUnavailable) as caught:
        package_folder(version)

    assert str(caught.value) == f"the published core {version} is not installed; run `{command}`"
    # Workers hand it over to the process that asked.
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_version_never_leads_out_of_the_cache(machine: Machine) -> None:
    machine.has("0.61.0").rename(machine.cache / "x")

    for use in (package_folder, check_available, details, remove):
        with pytest.raises(UpstreamUnavailable, match=r"'\.\./x' is not a version"):
            use("../x")
    assert (machine.cache / "x").is_dir()


def test_check_available_raises_for_the_first_missing_thing(machine: Machine) -> None:
    (machine.bin / "node").unlink()
    with pytest.raises(UpstreamUnavailable, match="node is not on PATH"):
        check_available("0.61.0")

    machine.node()
    with pytest.raises(UpstreamUnavailable, match=r"0\.61\.0 is not installed"):
        check_available("0.61.0")

    machine.has("0.61.0")
    check_available("0.61.0")


def test_details_count_every_file_once(machine: Machine) -> None:
    folder = machine.has("0.61.0")
    (folder / "more").write_bytes(bytes(1000))
    (folder / "link").symlink_to("more")
    size = (package_folder("0.61.0") / "package.json").stat().st_size + 1000 + len("more")

    assert details("0.61.0") == InstalledVersion(
        version="0.61.0", is_default=True, node=">=20", size=size, folder=folder
    )


def test_details_do_without_a_requirement(machine: Machine) -> None:
    machine.has("0.60.0")
    (package_folder("0.60.0") / "package.json").write_text('{"version":"0.60.0","engines":["x"]}')

    about = details("0.60.0")

    assert (about.node, about.is_default) == ("", False)


def test_remove_leaves_the_other_versions(machine: Machine) -> None:
    machine.has("0.60.0")
    machine.has("0.61.0")

    remove("0.60.0")

    assert machine.entries() == ["0.61.0"]


def test_remove_takes_a_folder_that_is_no_complete_install(machine: Machine) -> None:
    machine.has("0.60.0", says="0.59.0")

    remove("0.60.0")

    assert machine.entries() == []


def test_removing_a_link_keeps_what_it_points_to(machine: Machine) -> None:
    elsewhere = machine.has("0.60.0").rename(machine.cache / "elsewhere")
    (machine.upstream / "0.60.0").symlink_to(elsewhere)

    remove("0.60.0")

    assert machine.entries() == []
    assert (elsewhere / "node_modules").is_dir()


def test_removing_what_is_not_there_names_what_is(machine: Machine) -> None:
    with pytest.raises(UpstreamUnavailable) as caught:
        remove("0.60.0")
    assert str(caught.value) == "the published core 0.60.0 is not installed; no version is"

    machine.has("0.59.0")
    machine.has("0.61.0")
    with pytest.raises(UpstreamUnavailable) as caught:
        remove("0.60.0")
    assert caught.value.mend == "installed: 0.59.0, 0.61.0"


def test_a_folder_that_may_not_be_changed_or_read_is_an_error(machine: Machine) -> None:
    machine.has("0.60.0")
    machine.upstream.chmod(0o500)
    try:
        if os.access(machine.upstream, os.W_OK):
            pytest.skip("this user may write everything; run the tests as another one")
        with pytest.raises(UpstreamUnavailable, match=r"0\.60\.0 cannot be removed from /"):
            remove("0.60.0")
        machine.upstream.chmod(0)
        with pytest.raises(UpstreamUnavailable, match="cannot be read: Permission denied"):
            installed_versions()
    finally:
        machine.upstream.chmod(0o700)
