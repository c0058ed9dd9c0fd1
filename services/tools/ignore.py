"""The files that `.gitignore` and `.geminiignore` hide from tools.

Source: core `services/fileDiscoveryService.ts`, `utils/gitIgnoreParser.ts`,
`utils/ignoreFileParser.ts`.
"""

from __future__ import annotations

import posixpath
import re
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from pathspec import GitIgnoreSpec
from pathspec.pattern import RegexMatchResult
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from services.exhaustion import notice
from services.outside_patterns import OutsidePattern, PatternBudget, compile_outside
from services.paths import InvalidPath, real_path
from services.regular_files import open_regular
from services.tools.paths import absolute, relative_path
from services.wire import JS_SPACES, js_trim

__all__ = ["FileDiscovery", "is_git_repository"]

GEMINI_IGNORE: Final = ".geminiignore"
LONGEST_IGNORE_FILE: Final = 256 * 1024
"""The most bytes of an ignore file that are read."""
MOST_IGNORE_LINES: Final = 10_000
"""The most lines of an ignore file that are read."""
LONGEST_IGNORE_LINE: Final = 4096
"""The most characters of a line that is read; a longer line cannot match a path."""
_FEW_STARS: Final = 2
_BEGINNING: Final = re.compile(f"^{JS_SPACES}+")
_EXCLAIMED: Final = re.compile(r"\[!([^\]/]+)\]")


def is_git_repository(folder: Path) -> bool:
    """Whether `folder` or one above it holds a `.git`."""
    return any((parent / ".git").exists() for parent in (folder, *folder.parents))


class FileDiscovery:
    """Decides whether a path of the project at `root` is hidden.

    It reads `.geminiignore` at once, and a `.gitignore` file at the first question about its
    folder, but only inside a Git repository. All answers share one budget for the patterns.
    """

    def __init__(
        self, root: Path, *, respect_git: bool = True, respect_gemini: bool = True
    ) -> None:
        """Read `.geminiignore`.

        Args:
            root: the folder of the project.
            respect_git: whether `.gitignore` files count, where a question leaves it open.
            respect_gemini: the same for `.geminiignore`.
        """
        self._root = root
        self._respect_git, self._respect_gemini = respect_git, respect_gemini
        budget = PatternBudget()
        self._gemini = _Layers(root, _plain_patterns(root / GEMINI_IGNORE), budget)
        self._git = _GitLayers(root, (), budget) if is_git_repository(root) else None
        self._both: _Layers = self._gemini
        if self._git is not None:
            self._both = _GitLayers(root, self._gemini.patterns, budget)

    def hides(
        self,
        path: str,
        *,
        is_directory: bool = False,
        respect_git: bool | None = None,
        respect_gemini: bool | None = None,
    ) -> bool:
        """Whether to leave out `path` (absolute, or relative to the root).

        A symbolic link is also hidden if its target is hidden or outside the project.

        Raises:
            PatternLimit: the patterns of the ignore files have used up their time.
        """
        layers: list[_Layers] = []
        respect_git = self._respect_git if respect_git is None else respect_git
        respect_gemini = self._respect_gemini if respect_gemini is None else respect_gemini
        if respect_git and respect_gemini:
            layers = [self._both]
        elif respect_git and self._git is not None:
            layers = [self._git]
        elif respect_gemini:
            layers = [self._gemini]
        if any(layer.ignores(path, is_directory=is_directory) for layer in layers):
            return True
        full = Path(absolute(self._root, path))
        try:
            if not full.is_symlink():
                return False
            target = real_path(full)
            if target != self._root and self._root not in target.parents:
                return True
            return any(layer.ignores(str(target), is_directory=target.is_dir()) for layer in layers)
        except (InvalidPath, OSError):
            return False

    def visible(
        self,
        paths: Sequence[str],
        *,
        respect_git: bool | None = None,
        respect_gemini: bool | None = None,
    ) -> tuple[list[str], int]:
        """The paths that are not hidden, in order, and the number of hidden ones."""
        kept = [
            path
            for path in paths
            if not self.hides(path, respect_git=respect_git, respect_gemini=respect_gemini)
        ]
        return kept, len(paths) - len(kept)


def _plain_patterns(file: Path) -> list[str]:
    lines = map(js_trim, _lines(file))
    return [line for line in lines if line and not line.startswith("#")]


def _lines(file: Path) -> list[str]:
    """The lines of an ignore file within the limits above; empty if it cannot be read."""
    try:
        with open_regular(file) as opened:
            data = opened.read(LONGEST_IGNORE_FILE)
    except OSError as error:
        notice(error)
        return []
    lines = re.split(r"\r\n|\n|\r", data.decode(errors="replace"), maxsplit=MOST_IGNORE_LINES)
    return [line for line in lines[:MOST_IGNORE_LINES] if len(line) <= LONGEST_IGNORE_LINE]


class _IgnorePattern(GitIgnoreSpecPattern):
    """One line of an ignore file; a slow one is matched within a budget.

    As in npm `ignore`, and unlike in git, case does not count.
    With few stars the time grows at most with the cube of a path's length. Such a line, which is
    the usual case, is matched by `pathspec`.
    """

    def __init__(self, line: str, budget: PatternBudget) -> None:
        super().__init__(line)
        self._budget = budget
        self._outside: OutsidePattern | None = None
        if self.regex is None:
            return
        if line.count("*") > _FEW_STARS:
            flags = self.regex.flags & int(re.DOTALL)
            self._outside = compile_outside(self.regex.pattern, flags | int(re.IGNORECASE))
        else:
            self.regex = re.compile(self.regex.pattern, self.regex.flags | re.IGNORECASE)

    def match_file(self, file: Any) -> RegexMatchResult | None:
        if self._outside is None:
            found: RegexMatchResult | None = super().match_file(file)
            return found
        match: Any = self._outside.search(file, self._budget, where=file)
        return None if match is None else RegexMatchResult(match)


def _spec(lines: Iterable[str], budget: PatternBudget) -> GitIgnoreSpec:
    """The patterns of `lines`; as in git, an invalid pattern is left out."""

    def pattern(line: str) -> _IgnorePattern:
        try:
            # As in npm `ignore`: a class has no negation by `!`, which is a character of it, and
            # `a/**` leaves `a` itself.
            line = _EXCLAIMED.sub(r"[\1!]", line)
            return _IgnorePattern(f"{line}/*" if line.endswith("/**") else line, budget)
        except (ValueError, re.error):
            return _IgnorePattern("", budget)

    with warnings.catch_warnings():
        # Of a bracket in a class, which may get another meaning in Python.
        warnings.simplefilter("ignore", FutureWarning)
        return GitIgnoreSpec.from_lines(lines, pattern, backend="simple")


class _Layers:
    """The patterns of one file at the project's root."""

    def __init__(self, root: Path, patterns: Iterable[str], budget: PatternBudget) -> None:
        self._root = root
        self.patterns = tuple(patterns)
        self._budget = budget
        self._spec = _spec(self.patterns, budget)

    def ignores(self, path: str, *, is_directory: bool) -> bool:
        relative = self._relative(path, is_directory=is_directory)
        return relative is not None and _ignored(self._spec, relative)

    def _relative(self, path: str, *, is_directory: bool) -> str | None:
        found = relative_path(self._root, absolute(self._root, path))
        if not found or found == ".." or found.startswith("../"):
            return None
        return found + "/" if is_directory else found


def _ignored(spec: GitIgnoreSpec, relative: str) -> bool:
    """Whether a path is ignored. As in git, no pattern can include a file of an ignored folder."""
    parts = relative.rstrip("/").split("/")
    for depth in range(1, len(parts)):
        if spec.match_file("/".join(parts[:depth]) + "/"):
            return True
    return spec.match_file(relative)


class _GitLayers(_Layers):
    """`.git/info/exclude`, then `.gitignore` files from the root down, then extra patterns."""

    def __init__(self, root: Path, extra: Iterable[str], budget: PatternBudget) -> None:
        super().__init__(root, extra, budget)
        self._extra = _anchored(self.patterns, ".")
        self._files: dict[Path, list[str]] = {}
        self._specs: dict[Path, GitIgnoreSpec] = {}

    def ignores(self, path: str, *, is_directory: bool) -> bool:
        relative = self._relative(path, is_directory=is_directory)
        if relative is None:
            return False
        folder = self._root
        spec = self._spec_at(folder)
        for part in relative.rstrip("/").split("/")[:-1]:
            folder /= part
            if _ignored(spec, relative_path(self._root, folder) + "/"):
                break
            spec = self._spec_at(folder)
        return _ignored(spec, relative)

    def _spec_at(self, folder: Path) -> GitIgnoreSpec:
        """The patterns that apply inside `folder`."""
        found = self._specs.get(folder)
        if found is None:
            if folder != self._root and not self._read(
                folder / ".gitignore", relative_path(self._root, folder)
            ):
                return self._specs.setdefault(folder, self._spec_at(folder.parent))
            lines = [".git", *self._read(self._root / ".git" / "info" / "exclude", ".")]
            chain = [folder, *folder.parents]
            for step in reversed(chain[: chain.index(self._root) + 1]):
                base = relative_path(self._root, step) or "."
                lines.extend(self._read(step / ".gitignore", base))
            found = _spec([*lines, *self._extra], self._budget)
            self._specs[folder] = found
        return found

    def _read(self, file: Path, base: str) -> list[str]:
        if file not in self._files:
            self._files[file] = _anchored(_lines(file), base)
        return self._files[file]


def _anchored(patterns: Iterable[str], base: str) -> list[str]:
    """The patterns of an ignore file in folder `base`, made relative to the root."""
    anchored: list[str] = []
    for line in patterns:
        pattern = _BEGINNING.sub("", line)
        if not pattern or pattern.startswith("#"):
            continue
        negation = "!" if pattern.startswith("!") else ""
        pattern = pattern.removeprefix("!")
        rooted = pattern.startswith("/")
        pattern = pattern.removeprefix("/")
        if not pattern:
            continue
        if base != ".":
            if not rooted and "/" not in pattern:
                pattern = f"**/{pattern}"
            pattern = f"/{posixpath.join(base, pattern)}"
        elif rooted:
            pattern = f"/{pattern}"
        anchored.append(negation + pattern)
    return anchored
