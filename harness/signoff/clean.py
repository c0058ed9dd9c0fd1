"""Whether what is signed is what others can get: every file of it committed and unchanged."""

from __future__ import annotations

import importlib.util
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from harness.errors import UsageError
from harness.signoff.material import listed
from harness.signoff.problems import SigningRefused
from harness.signoff.tree import dirt, untracked
from harness.triage.checkout import Checkout

__all__ = ["clean_revision", "stray_packages"]


def clean_revision(
    code: Path | None, code_files: Collection[str], places: Sequence[Path], signoffs: Path
) -> str | None:
    """The commit of the code that is signed; `None` where the code is an installed distribution.

    Args:
        code: The checkout that our packages are of; `None` where they are installed.
        code_files: Names of the files of the code from there.
        places: The corpus, the gates and the other files that the verdict rests on.
        signoffs: The folder of records, which is about to change.

    Raises:
        SigningRefused: something is not as committed, not tracked, or in no checkout at all.
    """
    folders = {each if each.is_dir() else each.absolute().parent for each in places}
    checkouts: list[Checkout] = []
    for folder in sorted({*folders, *(() if code is None else (code,))}):
        if not any(_within(folder, known.root) for known in checkouts):
            checkouts.append(_checkout_of(folder))
    for checkout in checkouts:
        found = dirt(checkout, [signoffs])
        if found:
            problem = f"the checkout {checkout.root} is not as committed: {listed(found)}"
            raise SigningRefused(problem, "commit it, or put it back, and run everything anew")
    if code is None:
        return None
    own = _checkout_of(code)
    strangers = untracked(own, [*code_files, *_files_below(places, own.root)])
    if strangers:
        problem = f"files that git does not know would be signed: {listed(strangers)}"
        raise SigningRefused(problem, "commit them, or move them away")
    return own.git("rev-parse", "--verify", "HEAD")


def stray_packages(names: Iterable[str], beside: Path) -> list[str]:
    """Those of the packages that Python takes from elsewhere than from the folder `beside`.

    What is signed is what lies there, and it would be something else that ran.
    """
    found = []
    for name in names:
        spec = importlib.util.find_spec(name)
        origin = None if spec is None else spec.origin
        if origin is None or Path(origin).resolve().parents[1] != beside.resolve():
            found.append(f"{name} ({origin})")
    return found


def _checkout_of(folder: Path) -> Checkout:
    try:
        return Checkout.at(folder)
    except UsageError as error:
        problem = f"{folder} is in no checkout, so nobody else can get what would be signed"
        raise SigningRefused(f"{problem} ({error.problem})", "sign in a clean checkout") from error


def _files_below(places: Sequence[Path], root: Path) -> list[str]:
    """Names of the files among `places` that lie in a checkout, from its top folder."""
    inside = [each.resolve() for each in places if each.is_file()]
    top = root.resolve()
    return [each.relative_to(top).as_posix() for each in inside if each.is_relative_to(top)]


def _within(place: Path, folder: Path) -> bool:
    return place.resolve().is_relative_to(folder.resolve())
