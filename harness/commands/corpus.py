"""`parity list`, `show`, `check`: looking at cassettes without running them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click

from harness.cassette.document import read_text
from harness.cassette.find import CassetteFile
from harness.cassette.format import Cassette
from harness.cassette.problems import FormatProblem
from harness.cassette.secrets import secret_problems
from harness.cassette.settings import INCLUDE_DIRECTORIES
from harness.cassette.show import show_cassette
from harness.commands import checks
from harness.commands.naming import find_one
from harness.config import default_contract
from harness.coverage.contract import Contract, load_contract
from harness.errors import CassetteError, CassetteFormatError, UsageError
from harness.http.case import HttpCase, load_case, load_found
from harness.report.words import inert
from harness.wording import counted
from harness.wrapping import say
from services.redaction import without_credentials
from services.settings.without_effect import without_effect

__all__ = ["check", "list_", "show"]


def list_(
    paths: tuple[Path, ...],
    expr: str | None,
    phase: str | None,
    behaviour: str | None,
) -> int:
    """Run `parity list`; return its exit code."""
    if behaviour is not None:
        say(_sentence(behaviour), err=True)
    files = checks.chosen_cassettes(paths, expr, phase, on_stderr=True)
    broken = 0
    rows: list[tuple[str, str]] = []
    for file in files:
        try:
            cassette = load_case(file.path, file.root)
        except CassetteError as error:
            say(f"not loaded: {error}", err=True)
            broken += 1
            continue
        if behaviour is not None and behaviour not in cassette.contract:
            continue
        if phase in (None, cassette.phase):
            rows.append((cassette.name, f"{cassette.phase or '-'}  {cassette.note}"))
    width = max((len(name) for name, _ in rows), default=0)
    for name, about in rows:
        say(
            inert(without_credentials(f"{name:<{width}}  {about}".rstrip())),
            hang=width + len("  A  "),
        )
    return 2 if broken else 0


def _sentence(behaviour: str) -> str:
    """A behaviour in one line.

    Raises:
        UsageError: there is no contract, or it has no such behaviour.
    """
    file = default_contract()
    found = load_contract(file).by_id(behaviour)
    if found is None:
        where = "no contract here" if file is None else f"{file} has no {behaviour!r}"
        raise UsageError(where, "give an id of parity_tests/contract.md, such as P-014")
    return f"{found.id} ({found.behaviour_class}, phase {found.phase}): {found.title}"


def show(cassette: str, whole: bool) -> None:
    """Run `parity show`."""
    found = find_one(cassette)
    case = load_found(found)
    loaded = case.cassette if isinstance(case, HttpCase) else case
    text = show_cassette(loaded, longest=None) if whole else show_cassette(loaded)
    click.echo(text, nl=False)


def check(paths: tuple[Path, ...], expr: str | None) -> int:
    """Run `parity check`; return its exit code."""
    contract_file = default_contract()
    contract = load_contract(contract_file)
    files = checks.chosen_cassettes(paths, expr)
    broken = count = 0
    for file in files:
        problems, warnings = _examined(file, contract, contract_file)
        for problem in (*problems, *warnings):
            say(str(problem), err=True)
        broken += bool(problems)
        count += len(problems)
    if broken:
        found = counted(count, "problem")
        say(f"{broken} of {len(files)} cassettes cannot be used: {found}", err=True)
        return 2
    say(f"{counted(len(files), 'cassette')}: all valid")
    return 0


def _examined(
    file: CassetteFile, contract: Contract, contract_file: Path | None
) -> tuple[list[CassetteError], list[str]]:
    """All that is wrong with one cassette, as far as each part of it can be looked at alone.

    Returned second: a warning for each setting that has no effect.
    """
    problems: list[CassetteError] = []
    warnings: list[str] = []
    try:
        case = load_case(file.path, file.root)
        if contract_file is not None:
            problems += _unknown(file.path, contract.unknown(case.contract), contract_file)
        if isinstance(case, Cassette):
            given = case.session.settings
            idle = without_effect(
                {name: given[name] for name in given if name != INCLUDE_DIRECTORIES}, of_file=False
            )
            warnings += [f"{file.path}: session.settings: {each}" for each in idle]
    except CassetteFormatError as error:
        problems += [error, *error.more]
    except CassetteError as error:
        problems.append(error)
    # What is no document at all cannot be searched, and loading it has said so.
    with suppress(FormatProblem, OSError):
        problems += secret_problems(file.path, read_text(file.path))
    return problems, warnings


def _unknown(file: Path, ids: Sequence[str], contract: Path) -> list[CassetteError]:
    mend = "use an id of that file, or write the behaviour there"
    return [
        CassetteError(file, "contract", f"{contract} has no behaviour {each!r}", mend)
        for each in ids
    ]
