"""`parity list`, `show`, `check`: looking at cassettes without running them."""

from __future__ import annotations

from pathlib import Path

import click

from harness.commands.options import chosen_cassettes, paths_argument, select_option
from harness.errors import CassetteError, UsageError

__all__ = ["check", "list_", "show"]


@click.command("list")
@paths_argument
@select_option
@click.option("--phase", type=click.Choice(["A", "B", "C"]), help="Only this rollout phase.")
@click.pass_context
def list_(ctx: click.Context, paths: tuple[Path, ...], expr: str | None, phase: str | None) -> None:
    """List cassettes: name, phase, and what each is about.

    \b
    parity list
    parity list cassettes/tools --phase A
    """  # noqa: D301 - click's mark for lines that stay as they are
    from harness.http.case import load_case

    files = chosen_cassettes(paths, expr, phase, on_stderr=True)
    broken = 0
    rows: list[tuple[str, str]] = []
    for file in files:
        try:
            cassette = load_case(file.path, file.root)
        except CassetteError as error:
            click.echo(f"not loaded: {error}", err=True)
            broken += 1
            continue
        if phase in (None, cassette.phase):
            rows.append((cassette.name, f"{cassette.phase or '-'}  {cassette.note}"))
    width = max((len(name) for name, _ in rows), default=0)
    for name, about in rows:
        click.echo(f"{name:<{width}}  {about}".rstrip())
    ctx.exit(2 if broken else 0)


@click.command()
@click.argument("cassette", metavar="NAME|FILE")
@click.option("--whole", is_flag=True, help="Show long texts whole instead of by their ends.")
def show(cassette: str, whole: bool) -> None:
    """Show one cassette as YAML, its macros expanded.

    NAME is looked for in ./cassettes or else the bundled corpus; a unique part of it will do.

    \b
    parity show tools/batch
    parity show other/cassettes/loops/tool_nudge.yaml
    """  # noqa: D301 - click's mark for lines that stay as they are
    from harness.cassette.show import show_cassette
    from harness.http.case import HttpCase, load_case

    file, root = _find_one(cassette)
    case = load_case(file, root)
    loaded = case.cassette if isinstance(case, HttpCase) else case
    text = show_cassette(loaded, longest=None) if whole else show_cassette(loaded)
    click.echo(text, nl=False)


def _find_one(cassette: str) -> tuple[Path, Path | None]:
    from harness.cassette.find import find_cassettes
    from harness.config import default_corpus

    if Path(cassette).is_file():
        found = find_cassettes([Path(cassette)])[0]
        return found.path, found.root
    corpus = default_corpus()
    files = find_cassettes([corpus])
    exact = [file for file in files if file.name == cassette]
    fitting = exact or [file for file in files if cassette in file.name]
    if len(fitting) == 1:
        return fitting[0].path, fitting[0].root
    if not fitting:
        raise UsageError(f"no cassette {cassette!r} in {corpus}", "see `parity list`")
    names = ", ".join(file.name for file in fitting[:5])
    more = ", …" if len(fitting) > 5 else ""
    raise UsageError(f"{cassette!r} fits {len(fitting)} cassettes", f"say which: {names}{more}")


@click.command()
@paths_argument
@select_option
@click.pass_context
def check(ctx: click.Context, paths: tuple[Path, ...], expr: str | None) -> None:
    """Check that cassettes can be loaded and hold no secret.

    Every problem is told with file, key and what to do. A secret is an API key, a token, a password
    in an address, a PEM block, or a person's name in a home path; which one it is, is never told.

    \b
    parity check
    parity check my/cassettes

    Exit codes: 0 all are valid; 2 some are not.
    """  # noqa: D301 - click's mark for lines that stay as they are
    from harness.cassette.document import read_text
    from harness.cassette.secrets import secret_problems
    from harness.http.case import load_case

    files = chosen_cassettes(paths, expr)
    broken = 0
    for file in files:
        problems: list[CassetteError] = []
        try:
            load_case(file.path, file.root)
            problems += secret_problems(file.path, read_text(file.path))
        except CassetteError as error:
            problems.append(error)
        for problem in problems:
            click.echo(str(problem), err=True)
        broken += bool(problems)
    if broken:
        click.echo(f"{broken} of {len(files)} cassettes cannot be used", err=True)
        ctx.exit(2)
    click.echo(f"{len(files)} cassette{'' if len(files) == 1 else 's'}: all valid")
