"""`parity import`: cassettes from upstream's recorded `.responses` files."""

from __future__ import annotations

from pathlib import Path

import click

from harness.canonical import printable
from harness.cassette.dump import dump_yaml
from harness.cassette.importing import ImportOptions, import_responses
from harness.commands import checks, options
from harness.errors import CassetteError
from harness.whole_file import write_asked_for
from harness.wrapping import say

__all__ = ["import_"]


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=options.PLACE)
@click.option(
    "--out",
    required=True,
    type=options.FOLDER,
    help="The folder for the cassettes, each at <family>/<name>.yaml.",
)
@click.option("--family", default="imported", show_default=True, help="First part of the names.")
@click.option("--model", default="gemini-2.5-flash", show_default=True, help="The session's model.")
@click.option(
    "--approval-mode",
    type=click.Choice(["default", "auto_edit", "yolo", "plan"]),
    default="default",
    show_default=True,
    help="How much the session may do unasked.",
)
@click.option("--interactive", is_flag=True, help="An interactive session instead of a headless.")
@click.option("--licence", help="The licence of the recordings.")
@click.option("--force", is_flag=True, help="Write over cassettes that are there already.")
def import_(
    files: tuple[Path, ...],
    out: Path,
    family: str,
    model: str,
    approval_mode: str,
    interactive: bool,
    licence: str | None,
    force: bool,
) -> int:
    """Make cassettes of recorded `.responses` files.

    They hold answers only: the user's side becomes one `send` for each stream that ends without a
    call. What a recording asked for (approval mode, settings) must be given as options or added by
    hand.

    \b
    parity import recordings/*.responses --out cassettes
    parity import todo.responses --out cassettes --approval-mode yolo
    """  # noqa: D301 - click's mark for lines that stay as they are
    checks.writable_folder(out, "--out")
    wanted = ImportOptions(
        model=model,
        approval_mode=approval_mode,
        interactive=interactive,
        family=family,
        licence=licence,
    )
    broken = 0
    for file in files:
        try:
            document = import_responses(file, wanted)
        except CassetteError as error:
            say(f"not imported: {error}", err=True)
            broken += 1
            continue
        target = out / f"{document['name']}.yaml"
        if target.exists() and not force:
            problem = f"not imported: {target} is there already; --force replaces it"
            say(printable(problem), err=True)
            broken += 1
            continue
        checks.writable_folder(target.parent, "--out")
        write_asked_for(target, dump_yaml(document), "--out")
        say(printable(f"{file} -> {target}"))
    return 2 if broken else 0
