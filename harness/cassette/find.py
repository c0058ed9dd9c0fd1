"""Finds cassettes: their files, roots and names.

Only the head of a file is read here. Loading reports what is wrong with it, so that one bad file
does not hide the others.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Final, NoReturn

from harness.cassette.problems import shortened
from harness.cassette.variants import named_file, variant_of, variants_of
from harness.errors import CassetteNotFound, UsageError
from services.regular_files import open_regular

__all__ = [
    "HTTP_FOLDER",
    "SUFFIXES",
    "CassetteFile",
    "find_cassettes",
    "name_filter",
    "recorded_name",
    "with_variants",
]

SUFFIXES: Final = frozenset({".yaml", ".yml", ".json"})
HTTP_FOLDER: Final = "http"
"""The folder of a root that holds recorded HTTP traffic, which has another format."""

_GLANCE = 8192
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9._+@=-]+")
_MOST_WORDS: Final = 200
"""The maximum number of tokens in an expression; each may open another level."""
_NAME = re.compile(r"""^name:[ ]*(?P<value>.+?)[ \t\r]*(?:[ ]#.*)?$""", re.MULTILINE)
_JSON_NAME = re.compile(r"""[{,]\s*"name"\s*:\s*(?P<value>"(?:[^"\\]|\\.)*")""")
_PHASE = re.compile(r"""^phase:[ ]*(?P<value>["']?[ABC]["']?)[ \t\r]*(?:[ ]#.*)?$""", re.MULTILINE)
_JSON_PHASE = re.compile(r"""[{,]\s*"phase"\s*:\s*(?P<value>"[ABC]")""")


@dataclass(frozen=True, slots=True)
class CassetteFile:
    """A file that should be a cassette. `name` is its path under `root` without the suffix."""

    path: Path
    root: Path
    name: str
    """The name with its variant, if it is one: `<name>@sessions`."""

    @property
    def argument(self) -> str:
        """The file as an argument on the command line."""
        variant = variant_of(self.name)
        return str(self.path) if variant is None else f"{self.path}@{variant}"


def recorded_name(found_as: str) -> str:
    """Return the name of recorded traffic whose file was found as `found_as`."""
    parts = (_NOT_IN_NAMES.sub("_", part).strip("_") for part in found_as.split("/"))
    return "/".join((HTTP_FOLDER, *(part or "recording" for part in parts)))


def find_cassettes(
    paths: Sequence[Path],
    expr: str | None = None,
    phase: str | None = None,
    *,
    variants: bool = False,
) -> list[CassetteFile]:
    """Return the cassettes at `paths`, in the order of the paths, each folder sorted.

    Args:
        paths: Files, taken as they are, and folders, searched for `*.yaml`, `*.yml` and `*.json`.
            `x.yaml@sessions` is a variant of `x.yaml`, and that alone.
        expr: Keep those whose name fits: words joined by `and`, `or`, `not` and parentheses.
        phase: Keep those of this rollout phase, and those whose phase does not show.
        variants: After each cassette its variants, see `variants`.

    Raises:
        CassetteNotFound: a path does not exist, a folder holds no cassette at all, or one in it
            cannot be read.
        UsageError: `expr` cannot be read.
    """
    fits = name_filter(expr) if expr else None
    found: dict[tuple[Path, str | None], CassetteFile] = {}
    for path in paths:
        for each in _at(path):
            for file in with_variants([each]) if variants else [each]:
                found.setdefault((file.path.absolute(), variant_of(file.name)), file)
    return [
        file
        for file in found.values()
        if (fits is None or fits(file.name)) and (phase is None or _phase(file.path) in (phase, ""))
    ]


def with_variants(files: Iterable[CassetteFile]) -> list[CassetteFile]:
    """Return the cassettes at `paths`, each followed by its variants."""
    return [each for file in files for each in (file, *_variants(file))]


def _variants(file: CassetteFile) -> Iterator[CassetteFile]:
    if variant_of(file.name) is None:
        for variant in variants_of(file.path, _phase(file.path)):
            yield replace(file, name=f"{file.name}@{variant}")


def _at(path: Path) -> Iterator[CassetteFile]:
    path, variant = named_file(path)
    if variant is not None:
        if not path.is_file():
            raise CassetteNotFound(path, "", "does not exist", "check the path")
        file = _describe(path, None)
        yield replace(file, name=f"{file.name}@{variant}")
    elif path.is_dir():
        files = [_describe(file, path) for file in sorted(_walk(path))]
        if not files:
            problem = f"holds no cassettes ({', '.join(sorted(SUFFIXES))})"
            raise CassetteNotFound(path, "", problem, "name a folder with cassettes in it")
        yield from files
    elif path.exists():
        yield _describe(path, None)
    else:
        raise CassetteNotFound(path, "", "does not exist", "check the path")


def _walk(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder, onerror=_refuse):
        here = Path(place)
        folders[:] = [name for name in folders if not name.startswith(".")]
        if here == folder and HTTP_FOLDER in folders:
            folders.remove(HTTP_FOLDER)
        yield from (here / name for name in files if Path(name).suffix in SUFFIXES)


def _refuse(error: OSError) -> NoReturn:
    """Raise if a folder cannot be read, instead of skipping it."""
    problem = f"cannot be read: {error.strerror}"
    raise CassetteNotFound(Path(error.filename), "", problem, "mend its permissions") from error


def _describe(path: Path, folder: Path | None) -> CassetteFile:
    place = path.absolute().with_suffix("")
    head = _glance(path)
    name = _value(_NAME, head) or _value(_JSON_NAME, head)
    parts = PurePosixPath(name).parts
    if parts and place.parts[-len(parts) :] == parts:
        return CassetteFile(path, place.parents[len(parts) - 1], name)
    root = path.parent if folder is None else folder
    return CassetteFile(path, root.absolute(), place.relative_to(root.absolute()).as_posix())


def _glance(path: Path) -> str:
    try:
        with open_regular(path) as stream:
            return stream.read(_GLANCE).decode("utf-8", "replace")
    except OSError:
        return ""  # loading the file reports the problem


def _value(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    if match is None:
        return ""
    value = match["value"]
    if value[:1] == '"':
        try:
            value = json.loads(value)
        except ValueError:
            return ""
        return value if isinstance(value, str) else ""
    return value[1:-1].replace("''", "'") if value[:1] == "'" else value


def _phase(path: Path) -> str:
    head = _glance(path)
    return _value(_PHASE, head) or _value(_JSON_PHASE, head)


def name_filter(expr: str) -> Callable[[str], bool]:
    """Build a predicate over names from words, `and`, `or`, `not` and parentheses; ignore case.

    Raises:
        UsageError: `expr` cannot be read.
    """
    return _Expression(expr).parse()


Test = Callable[[str], bool]


class _Expression:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = re.findall(r"[()]|[^\s()]+", text)
        self._position = 0
        if len(self._tokens) > _MOST_WORDS:
            self._refuse(f"it has more than {_MOST_WORDS} words and parentheses")

    def parse(self) -> Test:
        test = self._either()
        if self._position < len(self._tokens):
            self._refuse(f"{self._tokens[self._position]!r} is one too many")
        return test

    def _next(self) -> str:
        return self._tokens[self._position] if self._position < len(self._tokens) else ""

    def _accept(self, token: str) -> bool:
        if self._next() != token:
            return False
        self._position += 1
        return True

    def _either(self) -> Test:
        tests = [self._both()]
        while self._accept("or"):
            tests.append(self._both())
        return lambda name: any(test(name) for test in tests)

    def _both(self) -> Test:
        tests = [self._one()]
        while self._accept("and"):
            tests.append(self._one())
        return lambda name: all(test(name) for test in tests)

    def _one(self) -> Test:
        if self._accept("not"):
            inner = self._one()
            return lambda name: not inner(name)
        if self._accept("("):
            inner = self._either()
            if not self._accept(")"):
                self._refuse("a `)` is missing")
            return inner
        word = self._next()
        if word in ("", ")", "and", "or"):
            self._refuse("a word is missing")
        self._position += 1
        return lambda name: word.lower() in name.lower()

    def _refuse(self, problem: str) -> None:
        mend = "write words joined by and, or, not and parentheses"
        shown = shortened(self._text, 200)
        raise UsageError(f"cannot read the expression {shown!r}: {problem}", mend)
