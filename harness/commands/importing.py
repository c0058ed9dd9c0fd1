"""`parity import`: cassettes from upstream's recorded `.responses` files."""

from __future__ import annotations

import shlex
from pathlib import Path

from harness.canonical import printable
from harness.cassette.dump import dump_yaml
from harness.cassette.importing import ImportOptions, import_responses
from harness.errors import CassetteError
from harness.http.case import is_recording
from harness.whole_file import writable_folder, write_asked_for
from harness.wrapping import say

__all__ = ["import_"]


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
    """Run `parity import`; return its exit code."""
    writable_folder(out, "--out")
    wanted = ImportOptions(
        model=model,
        approval_mode=approval_mode,
        interactive=interactive,
        family=family,
        licence=licence,
    )
    broken = 0
    for file in files:
        if is_recording(file):
            problem = f"not imported: {file} is recorded HTTP traffic, which plays as it is"
            say(printable(f"{problem}: parity run {shlex.quote(str(file))}"), err=True)
            broken += 1
            continue
        try:
            document = import_responses(file, wanted)
        except CassetteError as error:
            say(f"not imported: {error}", err=True)
            broken += 1
            continue
        target = out / f"{document['name']}.yaml"
        if target.exists() and not force:
            problem = f"not imported: {target} already exists; --force replaces it"
            say(printable(problem), err=True)
            broken += 1
            continue
        writable_folder(target.parent, "--out")
        write_asked_for(target, dump_yaml(document), "--out")
        say(printable(f"{file} -> {target}"))
    return 2 if broken else 0
