import os
import signal
from pathlib import Path
from threading import Event, Thread

import pytest

from runtimes.published import UpstreamUnavailable, install, installed_versions, package_folder
from tests.processes import ends
from tests.runtimes.published.stand_ins import INSTALLS, NEVER_ENDS, Machine

INSTALL = "from runtimes.published import install; install(None, report=print)"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine.make(tmp_path, monkeypatch)


def failure(version: str | None = None) -> UpstreamUnavailable:
    with pytest.raises(UpstreamUnavailable) as caught:
        install(version, report=lambda line: None)
    return caught.value


def npm_fails(machine: Machine, *lines: str, code: int = 1) -> None:
    said = "".join(f"echo '{line}' >&2\n" for line in lines)
    machine.npm(f"{INSTALLS}{said}exit {code}\n")


def test_the_default_version_is_installed_and_found(machine: Machine) -> None:
    lines: list[str] = []

    package = install(None, report=lines.append)

    assert package == package_folder("0.61.0")
    assert machine.entries() == installed_versions() == ["0.61.0"]
    assert len(lines) == 1
    assert lines[0].startswith(
        f"installing @google/gemini-cli-core@0.61.0 into {machine.upstream} (about"
    )


def test_npm_runs_no_scripts_and_leaves_registry_and_optional_packages_to_the_user(
    machine: Machine,
) -> None:
    install("0.60.0", report=lambda line: None)

    path, _, words = machine.npm_calls[0].partition("|")
    assert path.split(os.pathsep)[0] == str(machine.bin)
    flags = set(words.split())
    assert {"install", "--ignore-scripts", "--no-save", "--omit=dev", "--no-audit"} <= flags
    assert {"--no-fund", "--loglevel=error", "@google/gemini-cli-core@0.60.0"} <= flags
    assert "registry" not in words
    assert "optional" not in words


def test_the_node_that_was_named_is_the_one_npm_starts(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    monkeypatch.setenv("PARITY_NODE", str(machine.node().rename(own / "node")))

    install(None, report=lambda line: None)

    assert machine.npm_calls[0].startswith(f"{own}{os.pathsep}{machine.bin}|")


def test_what_is_installed_needs_neither_node_nor_npm(machine: Machine) -> None:
    machine.has("0.60.0")
    (machine.bin / "node").unlink()
    lines: list[str] = []

    assert install("0.60.0", report=lines.append) == package_folder("0.60.0")
    assert lines == ["@google/gemini-cli-core@0.60.0 is installed already"]
    assert machine.npm_calls == []


def test_a_tag_goes_into_the_folder_of_its_version(machine: Machine) -> None:
    machine.npm(f"asked=0.62.0-preview.1\n{INSTALLS}")

    assert install("preview", report=lambda line: None) == package_folder("0.62.0-preview.1")
    assert machine.npm_calls[0].endswith("@google/gemini-cli-core@preview")
    assert machine.entries() == ["0.62.0-preview.1"]


def test_a_tag_of_an_installed_version_leaves_that_one_alone(machine: Machine) -> None:
    kept = machine.has("0.61.0") / "kept"
    kept.touch()
    machine.npm(f"asked=0.61.0\n{INSTALLS}")
    lines: list[str] = []

    assert install("latest", report=lines.append) == package_folder("0.61.0")
    assert lines[-1] == "latest is 0.61.0, which is installed already"
    assert kept.exists()
    assert machine.entries() == ["0.61.0"]


def test_a_broken_install_is_replaced(machine: Machine) -> None:
    broken = machine.has("0.61.0", says="0.1.0") / "broken"
    broken.touch()

    install(None, report=lambda line: None)

    assert machine.entries() == installed_versions() == ["0.61.0"]
    assert not broken.exists()


@pytest.mark.parametrize("version", ["../x", "", "file:/x", "--global", "^0.61.0"])
def test_an_invalid_version_never_reaches_npm(machine: Machine, version: str) -> None:
    assert "is neither a version nor a tag of the published core" in failure(version).problem
    assert machine.npm_calls == []
    assert not machine.cache.exists()


def test_a_missing_node_and_a_missing_npm_have_different_errors(machine: Machine) -> None:
    (machine.bin / "npm").unlink()
    assert failure().problem.startswith("there is no npm")

    (machine.bin / "node").unlink()
    assert failure().problem.startswith("node is not on PATH")
    assert not machine.cache.exists()


def test_an_unknown_version_is_named_with_npms_words(machine: Machine) -> None:
    npm_fails(machine, "npm error code ETARGET", "npm error notarget No matching version")

    assert str(failure("9.9.9")) == (
        "npm knows no @google/gemini-cli-core@9.9.9; `npm view @google/gemini-cli-core versions` "
        "lists those there are. npm said:\n"
        "  npm error code ETARGET\n  npm error notarget No matching version"
    )
    assert machine.entries() == []


@pytest.mark.parametrize(
    ("code", "mend"),
    [
        ("ENOTFOUND", "check the network and npm's registry and proxy settings"),
        ("ECONNREFUSED", "check the network and npm's registry and proxy settings"),
        ("ENOSPC", "make room on the disk"),
        ("EWHATEVER", "mend what npm names and run the command again"),
    ],
)
def test_the_mend_fits_npms_reason(machine: Machine, code: str, mend: str) -> None:
    npm_fails(machine, f"npm ERR! code {code}")

    error = failure()

    assert error.problem == "npm could not install @google/gemini-cli-core@0.61.0"
    assert error.mend.startswith(mend)
    assert machine.entries() == []


def test_npms_words_are_kept_short(machine: Machine) -> None:
    frames = [f"npm error     at frame{number} (x.js:1)" for number in range(50)]
    lines = [f"npm error line {number} {'x' * 500}" for number in range(20)]
    npm_fails(machine, *frames, "npm error", *lines)

    words = failure().mend.splitlines()[1:]

    assert [line.split()[3] for line in words if "…" not in line] == [
        "0", "1", "2", "3", "16", "17", "18", "19",
    ]  # fmt: skip
    assert max(map(len, words)) <= 302


def test_npm_killed_half_way_leaves_nothing_installed(machine: Machine) -> None:
    machine.npm(f"{INSTALLS}kill -9 $$\n")

    error = failure()

    assert error.problem.endswith("0.61.0: it was ended by signal 9")
    assert error.mend == "run the command again"
    assert machine.entries() == installed_versions() == []


def test_an_npm_that_cannot_be_started_is_an_error(machine: Machine) -> None:
    npm = machine.script("npm", "#!/nowhere/sh\n")

    assert str(failure()).startswith(f"{npm} cannot be run: ")
    assert machine.entries() == []


def test_an_npm_that_installs_nothing_or_something_else_is_an_error(machine: Machine) -> None:
    machine.npm("exit 0\n")
    assert failure().problem.startswith("npm ended without an error but did not install")

    machine.npm(f"asked=../../x\n{INSTALLS}")
    assert failure("latest").problem.startswith("npm ended without an error but did not")

    machine.npm(f"asked=0.60.0\n{INSTALLS}")
    wrong = "npm installed version 0.60.0 of @google/gemini-cli-core where 0.61.0 was asked for"
    assert failure().problem == wrong
    assert machine.entries() == []


def test_a_cache_that_cannot_be_written_is_an_error(machine: Machine) -> None:
    machine.cache.write_text("a file")

    error = failure()

    assert error.problem.startswith(f"{machine.upstream} cannot be written: Not a directory")
    assert "PARITY_CACHE_HOME" in error.mend


def test_one_of_two_installs_at_once_waits_for_the_other(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = machine.started(monkeypatch)
    machine.npm(f'read go < "$STARTED"\n{INSTALLS}')
    begun, waits = Event(), Event()
    lines: list[str] = []
    packages: list[Path] = []

    def report_second(line: str) -> None:
        lines.append(line)
        waits.set()

    first = Thread(
        target=lambda: packages.append(install(None, report=lambda line: begun.set())), daemon=True
    )
    second = Thread(
        target=lambda: packages.append(install(None, report=report_second)), daemon=True
    )
    # Open at both ends: whatever the test finds, npm reads a line or the end of the pipe.
    gate = os.open(pipe, os.O_RDWR)
    try:
        first.start()
        assert begun.wait(60)
        second.start()
        assert waits.wait(60)
        os.write(gate, b"go\n")
        first.join(60)
        second.join(60)
    finally:
        os.close(gate)

    assert packages == [package_folder("0.61.0")] * 2
    assert lines == [
        f"another install works in {machine.upstream}: waiting",
        "@google/gemini-cli-core@0.61.0 is installed already",
    ]
    assert len(machine.npm_calls) == 1
    assert machine.entries() == ["0.61.0"]


def test_a_killed_install_counts_for_nothing_and_is_cleared_by_the_next(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = machine.started(monkeypatch)
    machine.npm(NEVER_ENDS)
    with machine.half_way(pipe, "-c", INSTALL) as (child, _):
        child.kill()
        child.wait()
    assert installed_versions() == []
    assert len(machine.entries()) == 1

    machine.npm(INSTALLS)
    install("0.60.0", report=lambda line: None)

    assert machine.entries() == ["0.60.0"]


def test_an_npm_that_does_not_listen_is_killed(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = machine.started(monkeypatch)
    machine.npm(f"trap '' TERM\n{NEVER_ENDS}")
    short = "import runtimes.published.npm as npm; npm.END_S = 0.01"
    with machine.half_way(pipe, "-c", f"{short}\n{INSTALL}") as (child, npm):
        child.send_signal(signal.SIGINT)
        child.communicate()

        assert ends(npm)
    assert machine.entries() == []


def test_the_output_of_npm_is_reported_without_tokens(machine: Machine) -> None:
    token = "npm_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    npm_fails(machine, "npm error code E401", f"npm error token {token} is not valid")

    text = str(failure())

    assert token[8:] not in text
    assert "npm error token REDACTEDxxx" in text
    assert "is not valid" in text
