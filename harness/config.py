"""Finds the corpus, the waivers and the trusted cassettes, and identifies this build.

Only commands read this module; all others receive plain values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from harness import inventory
from harness.cassette.find import HTTP_FOLDER, SUFFIXES, CassetteFile
from harness.cassette.trust import trusted_source
from harness.errors import UsageError
from harness.inventory import (
    HELPERS,
    Component,
    Inventory,
    code_components,
    files_component,
    helpers_component,
    installed_distributions,
    layered_component,
    waivers_component,
)
from harness.sides import USUAL, baseline_folder
from harness.third_party import runtime_components
from harness.versions import distributions
from runtimes.project_file import find_project_file

__all__ = [
    "code_checkout",
    "code_digest",
    "core_baselines",
    "current_inventory",
    "default_baselines",
    "default_contract",
    "default_corpora",
    "default_corpus",
    "default_equivalents",
    "default_gates",
    "default_waivers",
    "project_code",
    "project_signoffs",
    "to_run",
    "trusted_here",
    "trusted_roots",
    "usual_sides",
    "versions",
]

_HERE: Final = Path(__file__).resolve().parent
_PROJECT_KEYS: Final = frozenset({"contract", "gates", "waivers"})
"""The files of a suite that a project may have."""


def default_corpus() -> Path:
    """Return the default corpus: the project's, `./cassettes`, the bundled one, or the checkout's.

    Raises:
        UsageError: None of these exists.
    """
    for folder in (*_of_the_project("corpus"), Path("cassettes"), *trusted_roots()):
        if folder.is_dir():
            return folder
    raise UsageError("no cassettes here", "name files or folders")


def default_corpora() -> tuple[Path, ...]:
    """Return the folders that run by default: `default_corpus`, and its recorded HTTP traffic.

    The traffic has another format and its own root, so the corpus alone does not include it. The
    gates require both.

    Raises:
        UsageError: there is no corpus.
    """
    theirs = tuple(_of_the_project("corpus"))
    if theirs:
        return theirs
    corpus = default_corpus()
    traffic = corpus / HTTP_FOLDER
    recorded = any(file.suffix in SUFFIXES for file in traffic.rglob("*"))
    return (corpus, traffic) if recorded else (corpus,)


def default_baselines() -> Path:
    """Return the folder of the core's baselines: `./baselines/upstream`, or the checkout's.

    If neither exists, return the first.
    """
    places = (Path(), *_checkout())
    folders = [place / "baselines" / "upstream" for place in places]
    return next((folder for folder in folders if folder.is_dir()), folders[0])


def default_waivers() -> Path | None:
    """Return the project's file if there is a project; else `./parity_tests/waivers.toml`, or the
    checkout's, or `None`. The other files of the suite are found likewise.
    """
    return _of_the_suite("waivers.toml")


def default_gates() -> Path | None:
    """Return `./parity_tests/gates.toml`, or the checkout's, or `None`."""
    return _of_the_suite("gates.toml")


def default_equivalents() -> Path | None:
    """`./parity_tests/equivalent_mutants.toml`, else the checkout's, else none."""
    return _of_the_suite("equivalent_mutants.toml")


def default_contract() -> Path | None:
    """Return `./parity_tests/contract.md`, the checkout's, the bundled one, or `None`."""
    bundled = _HERE / "contract.md"
    found = _of_the_suite(bundled.name)
    in_project = find_project_file() is not None
    return bundled if found is None and not in_project and bundled.is_file() else found


def core_baselines() -> tuple[Path, ...]:
    """Return the folders to search for baselines of the published core; they may be missing.

    These are `./baselines/upstream`, then the bundled folder, then the checkout's.
    """
    own = Path("baselines", "upstream")
    return (own, _HERE / own, *(root / own for root in _checkout()))


def trusted_roots() -> tuple[Path, ...]:
    """Return the corpora whose cassettes may start processes: bundled, and the checkout's."""
    return (_HERE / "corpus", *(root / "cassettes" for root in _checkout()))


def to_run(
    files: Iterable[CassetteFile], *, trust: bool
) -> Iterator[tuple[CassetteFile, CassetteFile, bool]]:
    """Yield each of `files`, with the file to run instead and whether it may start processes.

    If the user gives `trust`, that is the file itself. Otherwise the original of a bundled cassette
    replaces a copy of it; see `harness.cassette.trust`.
    """
    roots = [root.resolve() for root in trusted_roots()]
    for file in files:
        source = None if trust else trusted_source(file, roots)
        yield file, source or file, trust or source is not None


def usual_sides() -> tuple[str, str]:
    """Return the control and the candidate of commands that name none.

    Raises:
        UsageError: the project file cannot be used.
    """
    if find_project_file() is None:
        return USUAL
    from harness.project import usual_sides as sides_of_project

    return sides_of_project()


def trusted_here(fields: Mapping[str, Any]) -> bool:
    """Return whether the project of this folder trusts the cassettes of a task with these fields.

    Raises:
        UsageError: the project file cannot be used.
    """
    if find_project_file() is None:
        return False
    from harness.project import project_trusts

    return project_trusts(fields)


def versions(sides: Iterable[str] = ()) -> Mapping[str, str]:
    """Return the identity of this build: distributions by version, our own code by digest.

    Third-party runtimes of `sides` appear by digest, too.
    """
    theirs = {name: each.digest[:12] for name, each in runtime_components(sides).items()}
    return {"code": code_digest(), **distributions(), **theirs}


def code_digest() -> str:
    """Return 12 hex digits of a digest over our own code, with data files."""
    return inventory.code_digest(Inventory(code_components()).digests)


def current_inventory(
    cassettes: Iterable[tuple[str, Path]], waivers: Path | None, sides: Iterable[str] = ()
) -> Inventory:
    """Return the current files that a verdict over `cassettes`, as (name, file), depends on.

    The inventory includes the waivers file, the gates, the contract, and the core's baselines of
    these cassettes. For a side that is a baseline, it adds the files that differ from the core's;
    for a third-party runtime, its package.
    """
    given, asked = list(cassettes), list(sides)
    gates, contract = default_gates(), default_contract()
    kept = [folder for folder in map(baseline_folder, asked) if folder is not None]
    return Inventory(
        {
            **code_components(),
            "corpus": files_component(given),
            HELPERS: helpers_component(given),
            "baselines": layered_component(
                (*core_baselines(), *kept), [f"{name}.json" for name, _ in given]
            ),
            "waivers": waivers_component(waivers),
            "gates": files_component([] if gates is None else [(gates.name, gates)]),
            "contract": files_component([] if contract is None else [(contract.name, contract)]),
            "distributions": Component(installed_distributions()),
            **runtime_components(asked),
        }
    )


def project_code() -> list[Path]:
    """Return the project file of this folder and the code that it names, as absolute paths.

    Raises:
        UsageError: the file cannot be used.
    """
    file = find_project_file()
    return [] if file is None else [file, *(each.absolute() for each in _of_the_project("code"))]


def project_signoffs() -> Path | None:
    """Return the folder of the project's records; `None` if no project file names one.

    Raises:
        UsageError: the file cannot be used.
    """
    return next(_of_the_project("signoffs"), None)


def _of_the_project(key: str) -> Iterator[Path]:
    """Yield the paths that the project file of this folder has under a key, from this folder.

    Raises:
        UsageError: the file cannot be used.
    """
    if find_project_file() is None:
        return
    from harness.project import project_here  # pydantic, which other folders do not need

    project = project_here()
    assert project is not None
    value = getattr(project, key) or ()
    for name in (value,) if isinstance(value, str) else value:
        place, here = project.place(name), Path.cwd()
        yield place.relative_to(here) if place.is_relative_to(here) else place


def _of_the_suite(name: str) -> Path | None:
    if find_project_file() is not None:
        key = name.partition(".")[0]
        return next(_of_the_project(key), None) if key in _PROJECT_KEYS else None
    places = (Path("parity_tests"), *(root / "parity_tests" for root in _checkout()))
    files = (place / name for place in places)
    try:
        return next((file for file in files if file.is_file()), None)
    except OSError as error:
        problem = f"{error.filename} cannot be read: {error.strerror}"
        raise UsageError(problem, "correct the permissions of its folder") from error


def code_checkout() -> Path | None:
    """Return the folder of the checkout that this code runs from; `None` if it is installed."""
    return next(iter(_checkout()), None)


def _checkout() -> tuple[Path, ...]:
    """Yield the folder of the checkout that this code runs from, if it is one."""
    root = _HERE.parent
    return (root,) if (root / "pyproject.toml").is_file() else ()
