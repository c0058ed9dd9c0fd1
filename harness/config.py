"""Where things are: the corpus, the waivers, what is trusted, and what build this is.

Only commands read this module; all others receive plain values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

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
from harness.sides import baseline_folder
from harness.third_party import runtime_components
from harness.versions import distributions

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
    "to_run",
    "trusted_roots",
    "versions",
]

_HERE: Final = Path(__file__).resolve().parent


def default_corpus() -> Path:
    """What runs when nothing is named: `./cassettes`, else the bundled corpus, else the checkout's.

    Raises:
        UsageError: there is none of the three.
    """
    for folder in (Path("cassettes"), *trusted_roots()):
        if folder.is_dir():
            return folder
    raise UsageError("no cassettes here", "name files or folders")


def default_corpora() -> tuple[Path, ...]:
    """The folders that run when nothing is named: `default_corpus`, and its recorded HTTP traffic.

    The traffic is of another format and its folder a root of its own, so that naming the corpus
    leaves it out. The gates ask for both.

    Raises:
        UsageError: there is no corpus.
    """
    corpus = default_corpus()
    traffic = corpus / HTTP_FOLDER
    recorded = any(file.suffix in SUFFIXES for file in traffic.rglob("*"))
    return (corpus, traffic) if recorded else (corpus,)


def default_baselines() -> Path:
    """What the published core was observed to do: `./baselines/upstream`, else the checkout's.

    The first of them where there is none of the two.
    """
    places = (Path(), *_checkout())
    folders = [place / "baselines" / "upstream" for place in places]
    return next((folder for folder in folders if folder.is_dir()), folders[0])


def default_waivers() -> Path | None:
    """`./parity_tests/waivers.toml`, else the checkout's, else none."""
    return _of_the_suite("waivers.toml")


def default_gates() -> Path | None:
    """`./parity_tests/gates.toml`, else the checkout's, else none."""
    return _of_the_suite("gates.toml")


def default_equivalents() -> Path | None:
    """`./parity_tests/equivalent_mutants.toml`, else the checkout's, else none."""
    return _of_the_suite("equivalent_mutants.toml")


def default_contract() -> Path | None:
    """`./parity_tests/contract.md`, else the checkout's, else the bundled one, else none."""
    bundled = _HERE / "contract.md"
    return _of_the_suite(bundled.name) or (bundled if bundled.is_file() else None)


def core_baselines() -> tuple[Path, ...]:
    """Where baselines of the published core are looked for, be they there or not.

    `./baselines/upstream`, then the bundled ones, then the checkout's.
    """
    own = Path("baselines", "upstream")
    return (own, _HERE / own, *(root / own for root in _checkout()))


def trusted_roots() -> tuple[Path, ...]:
    """The corpora whose cassettes may start processes: bundled, and the checkout's."""
    return (_HERE / "corpus", *(root / "cassettes" for root in _checkout()))


def to_run(
    files: Iterable[CassetteFile], *, trust: bool
) -> Iterator[tuple[CassetteFile, CassetteFile, bool]]:
    """Yield each of `files`, with the file to run in its place and whether it may start processes.

    With `trust`, which is the user's word for them, that is the file itself. Without it the
    original of a bundled cassette is run in place of a copy, see `harness.cassette.trust`.
    """
    roots = [root.resolve() for root in trusted_roots()]
    for file in files:
        source = None if trust else trusted_source(file, roots)
        yield file, source or file, trust or source is not None


def versions(sides: Iterable[str] = ()) -> Mapping[str, str]:
    """What is being run: distributions by version, our own code by digest.

    Of `sides` the runtimes of third parties, by digest as well.
    """
    theirs = {name: each.digest[:12] for name, each in runtime_components(sides).items()}
    return {"code": code_digest(), **distributions(), **theirs}


def code_digest() -> str:
    """12 hex digits over our own code, data files included."""
    return inventory.code_digest(Inventory(code_components()).digests)


def current_inventory(
    cassettes: Iterable[tuple[str, Path]], waivers: Path | None, sides: Iterable[str] = ()
) -> Inventory:
    """What a verdict over `cassettes`, as (name, file), would rest on as things stand.

    Of `sides` those that are baselines count too, in what they have otherwise than the core's, and
    of those that are runtimes of third parties the packages. With the waivers of this file, the
    gates and the contract where they are looked for, and what there is of the published core's
    baselines for these cassettes.
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


def _of_the_suite(name: str) -> Path | None:
    places = (Path("parity_tests"), *(root / "parity_tests" for root in _checkout()))
    files = (place / name for place in places)
    try:
        return next((file for file in files if file.is_file()), None)
    except OSError as error:
        problem = f"{error.filename} cannot be read: {error.strerror}"
        raise UsageError(problem, "correct the permissions of its folder") from error


def code_checkout() -> Path | None:
    """The folder of the checkout that this code runs from; `None` where it was installed."""
    return next(iter(_checkout()), None)


def _checkout() -> tuple[Path, ...]:
    """The folder of the checkout that this code runs from, if it is one."""
    root = _HERE.parent
    return (root,) if (root / "pyproject.toml").is_file() else ()
