"""What the command line may call a cassette, a journal or a folder of baselines.

Every command accepts a path or a name. An existing path comes first; for an unknown word the error
suggests the nearest names.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from harness.cassette.find import SUFFIXES, CassetteFile, find_cassettes, with_variants
from harness.cassette.variants import named_file, plain_name, variant_of
from harness.config import default_baselines, default_corpus
from harness.errors import CassetteNotFound, UsageError
from harness.report.kept import JOURNALS, kept_journals
from harness.scenarios.found import FOUND
from harness.sides import BASELINE, baseline_folder
from harness.wording import did_you_mean, near_words

__all__ = [
    "cassette_place",
    "find_one",
    "finding_place",
    "journal_place",
    "name_of",
    "near_baselines",
    "near_paths",
    "side",
]

_USUAL: Final = Path("cassettes")
"""What paths begin with where the corpus is the checkout's; so may those of the bundled one."""
_BASELINES: Final = Path("baselines")
_LISTED: Final = 5


def side(asked: str) -> str:
    """A side of a comparison: `baseline:DIR` may name a folder of ./baselines by its name.

    The type of an option, as are `cassette_place` and `finding_place`.
    """
    folder = baseline_folder(asked)
    if folder is None or asked == BASELINE or folder.is_dir():
        return asked
    kept = (place / folder for place in (_BASELINES, default_baselines().parent))
    return next((f"{BASELINE}{place}" for place in kept if place.is_dir()), asked)


def cassette_place(asked: str) -> Path:
    """The path of a cassette or of a folder of cassettes.

    In this order: a path; a path without its suffix; a cassette or a folder of the usual corpus by
    its name, which `cassettes/` may precede; a finding by its name under .parity/found; and a part
    of a name that only one cassette of the corpus has. A variant (`NAME@sessions`) stays a variant.

    Raises:
        CassetteNotFound: there is no such path.
        UsageError: there is no such name, or several cassettes have it; with the nearest ones.
    """
    if not asked:
        raise UsageError("an empty name", "see `parity list`")
    if _is_there(named_file(Path(asked))[0]):
        return Path(asked)
    corpus = _Corpus.usual()
    found = _with_suffix(Path(asked)) or corpus.find(asked) or _finding(asked)
    if found is not None:
        return found
    fitting = corpus.with_part(asked)
    if len(fitting) == 1:
        return fitting[0]
    paths = [str(path) for path in near_paths(Path(asked))]
    near = paths or corpus.near(asked) if _is_path(asked) else corpus.near(asked) or paths
    if fitting:
        names = [corpus.name(path) for path in fitting]
        raise UsageError(f"{asked!r} fits {len(fitting)} cassettes", _say_which(names, near))
    if _is_path(asked):
        raise CassetteNotFound(asked, "", "does not exist", did_you_mean(near, "check the path"))
    where = f" in {corpus.root}" if corpus.root is not None else ": there is no corpus here"
    raise UsageError(f"no cassette {asked!r}{where}", did_you_mean(near, "see `parity list`"))


def finding_place(asked: str) -> Path:
    """The path of a finding, or of any other cassette outside the corpus.

    Raises:
        CassetteNotFound: there is no such path; with the nearest findings.
    """
    path = Path(asked)
    if asked and _is_there(path):
        return path
    found = (_with_suffix(path) or _finding(asked)) if asked else None
    if found is not None:
        return found
    known = {str(each.relative_to(FOUND).with_suffix("")) for each in FOUND.rglob("*.yaml")}
    near = near_words(asked, known) or [str(path) for path in near_paths(path)]
    problem = f"does not exist, and is not a finding in {FOUND}"
    raise CassetteNotFound(asked, "", problem, did_you_mean(near, "name a finding's file"))


def find_one(asked: str) -> CassetteFile:
    """The one cassette that `asked` names; see `cassette_place`.

    Raises:
        CassetteNotFound: there is no such path.
        UsageError: there is no such name, or it names several cassettes.
    """
    files = find_cassettes([cassette_place(asked)])
    if len(files) > 1:
        names = [file.name for file in files]
        raise UsageError(f"{asked!r} fits {len(files)} cassettes", _say_which(names, []))
    return _Corpus.usual().described(files[0])


def name_of(asked: str) -> str:
    """The name of a cassette that may be named by its path; other words stay as they are."""
    if named_file(Path(asked))[0].is_file():
        return find_cassettes([Path(asked)])[0].name
    found = _Corpus.usual().find(asked)
    return asked if found is None or found.is_dir() else find_cassettes([found])[0].name


def journal_place(asked: Path) -> Path:
    """The path of a journal or of a folder with journals.

    One that a run kept in .parity/journals may be named by its file name, with or without suffix.

    Raises:
        UsageError: there is neither; with the nearest ones.
    """
    if os.path.lexists(asked):  # what cannot be read is refused where it is read
        return asked
    kept = {file.stem: file for file in kept_journals()}
    if (stem := asked.name.removesuffix(".jsonl")) in kept and asked.parent in (Path(), JOURNALS):
        return kept[stem]
    near = near_words(stem, kept) or [str(path) for path in near_paths(asked)]
    mend = "name a journal that `parity run` wrote, or a folder of them"
    problem = f"the journal {asked} cannot be read: it does not exist"
    raise UsageError(problem, did_you_mean(near, mend))


def near_baselines(folder: Path) -> list[str]:
    """The sides that are nearest to one with a folder of baselines that does not exist."""
    places = (_BASELINES, default_baselines().parent)
    names = [each.name for place in places if place.is_dir() for each in place.iterdir()]
    near = [str(path) for path in near_paths(folder)] or near_words(str(folder), sorted({*names}))
    return [f"{BASELINE}{each}" for each in near]


def near_paths(path: Path) -> list[Path]:
    """The existing paths that are nearest to one that does not exist.

    Only the first part of it that is missing is taken as misspelt.
    """
    missing = path
    while missing.parent != missing and not _is_there(missing.parent):
        missing = missing.parent
    try:
        entries = sorted(each.name for each in missing.parent.iterdir())
    except OSError:
        return []
    rest = path.relative_to(missing)
    found = [missing.with_name(entry) for entry in near_words(missing.name, entries)]
    whole = [place / rest for place in found if _is_there(place / rest)]
    return whole or found


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # no path can be so long, or the folder refuses to be looked into
        return False


def _say_which(names: Sequence[str], near: Sequence[str]) -> str:
    listed = ", ".join(names[:_LISTED]) + (", …" if len(names) > _LISTED else "")
    return f"{did_you_mean(near, '')} Or name one of {listed}" if near else f"name one of {listed}"


def _is_path(asked: str) -> bool:
    path = Path(plain_name(asked))
    return path.is_absolute() or path.suffix in SUFFIXES or asked.startswith((".", "~"))


def _with_suffix(path: Path) -> Path | None:
    """The cassette file that `path` lacks the suffix of."""
    if not path.name:
        return None
    variant = variant_of(path.name)
    for suffix in sorted(SUFFIXES, reverse=True):
        file = path.with_name(f"{plain_name(path.name)}{suffix}")
        if _is_there(file):
            return file if variant is None else file.with_name(f"{file.name}@{variant}")
    return None


def _finding(asked: str) -> Path | None:
    path = FOUND / asked
    return path if _is_there(path) else _with_suffix(path)


class _Corpus:
    """The usual corpus by its names, those of recorded traffic (`http/NAME`) included."""

    def __init__(self, root: Path | None) -> None:
        self.root = root
        self._files: Mapping[str, Path] | None = None

    @classmethod
    def usual(cls) -> _Corpus:
        """The corpus that runs where nothing is named; without one, there are no names."""
        try:
            return cls(default_corpus())
        except UsageError:
            return cls(None)

    def find(self, asked: str) -> Path | None:
        """The cassette or folder of that name, with its variant if that is one of its variants."""
        place = self._inside(asked)
        if place is None or self.root is None:
            return None
        if variant_of(asked) is None:
            path = self.root / place
            return path if _is_there(path) else _with_suffix(path)
        plain = self.find(plain_name(asked))
        if plain is None or plain.is_dir():
            return None
        paths = [Path(file.argument) for file in with_variants(find_cassettes([plain]))]
        return next((path for path in paths if variant_of(path.name) == variant_of(asked)), None)

    def described(self, file: CassetteFile) -> CassetteFile:
        """The same file under the corpus's name, where it says none of its own."""
        root = file.path.parent.absolute()
        if self.root is None or file.root != root or not root.is_relative_to(self.root.absolute()):
            return file
        name, variant = self.name(file.path.absolute()), variant_of(file.name)
        name = name if variant is None else f"{name}@{variant}"
        return replace(file, root=self.root.absolute(), name=name)

    def with_part(self, asked: str) -> list[Path]:
        """The cassettes with `asked` in their names, by name."""
        part = plain_name(asked)
        found = [path for name, path in self.files.items() if part in name]
        if variant_of(asked) is None:
            return found
        return [
            path
            for name in self.files
            if part in name and (path := self.find(f"{name}@{variant_of(asked)}")) is not None
        ]

    def near(self, asked: str) -> list[str]:
        """What is nearest to a misspelt name or path, in the same form."""
        place = self._inside(asked)
        if place is None or self.root is None:
            return []
        by_name = {name: str(path) for name, path in self.files.items()}
        folders = {str(Path(name).parent) for name in by_name}
        word = str(place.with_suffix("")) if _is_path(asked) else str(place)
        near = near_words(word, [*by_name, *folders])
        if not near and "/" not in word:  # a cassette's own name, without its family
            ends = {name.rpartition("/")[2]: name for name in by_name}
            near = [ends[end] for end in near_words(word, ends)]
        if str(place) == asked and not _is_path(asked):
            return near
        return [by_name.get(name, str(self.root / name)) for name in near]

    def name(self, path: Path) -> str:
        """What `path` is called in the corpus."""
        assert self.root is not None, "a path was found in it"
        place = path.absolute().relative_to(self.root.absolute())
        return place.with_suffix("").as_posix()

    @property
    def files(self) -> Mapping[str, Path]:
        """Name to file, by name; files are not looked into."""
        if self._files is None:
            found: dict[str, Path] = {}
            for place, folders, files in os.walk(self.root) if self.root is not None else ():
                folders[:] = [name for name in folders if not name.startswith(".")]
                paths = [Path(place, name) for name in files]
                found |= {self.name(path): path for path in paths if path.suffix in SUFFIXES}
            self._files = dict(sorted(found.items()))
        return self._files

    def _inside(self, asked: str) -> Path | None:
        """Where in the corpus `asked` would lie; `None` for what can only be a path elsewhere."""
        place = Path(asked)
        for root in (self.root, _USUAL):
            if root is not None and place.is_relative_to(root):
                place = place.relative_to(root)
        return None if place.is_absolute() or ".." in place.parts else place
