"""Single commands that are known to be harmless, or dangerous.

The functions take the words of one command line (`shell_words`). Source: core
`sandbox/utils/commandSafety.ts`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from services.shell.syntax import ShellSyntaxError, parse_shell
from services.shell.words import BadSubstitution, shell_words

__all__ = ["Place", "is_dangerous", "is_known_safe", "runs_git"]

_NO_PATHS: Final = frozenset(
    {
        "__write",
        "echo",
        "expr",
        "false",
        "id",
        "pwd",
        "seq",
        "tr",
        "true",
        "uname",
        "which",
        "whoami",
    }
)
_READERS: Final = frozenset(
    {
        "cat",
        "head",
        "tail",
        "tac",
        "nl",
        "stat",
        "wc",
        "cut",
        "paste",
        "rev",
        "uniq",
        "numfmt",
        "ls",
        "__read",
    }
)
_FIND_ACTIONS: Final = frozenset(
    {"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fls", "-fprint", "-fprint0", "-fprintf"}
)
_RG_VALUES: Final = ("--pre", "--hostname-bin")
_RG_FLAGS: Final = frozenset({"--search-zip", "-z"})
_GIT_READS: Final = frozenset({"status", "log", "diff", "show"})
_GIT_UNSAFE: Final = frozenset({"--output", "--ext-diff", "--textconv", "--exec", "--paginate"})
_GIT_VALUES: Final = frozenset(
    {
        "-C",
        "-c",
        "--config-env",
        "--exec-path",
        "--git-dir",
        "--namespace",
        "--super-prefix",
        "--work-tree",
    }
)
_GIT_LISTS: Final = frozenset(
    {"--list", "-l", "--show-current", "-a", "--all", "-r", "--remotes", "-v", "-vv", "--verbose"}
)
_GIT_MAY_FOLLOW: Final = frozenset({"sudo", "env", "time", "&&", "||", ";", "|", "&", "(", "\\n"})
_SED_PRINT = re.compile(r"[0-9]+(?:,[0-9]+)?p")
_TRUSTED_FOLDERS: Final = (
    "/usr/bin",
    "/bin",
    "/usr/local/bin",
    "/opt/homebrew/bin",
    "/opt/homebrew/Cellar",
    "/usr/local/Cellar",
    "/usr/sbin",
    "/sbin",
    "/google/bin",
    "/google/src/cloud",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a command would run. Paths are absolute."""

    workspace: Path
    cwd: Path
    home: Path

    @property
    def inside(self) -> bool:
        """Whether the working directory is in the workspace (links followed)."""
        return _within(self.workspace.resolve(), self.cwd.resolve())

    def escapes(self, argument: str) -> bool:
        """Whether a path argument leaves the workspace, or may do so."""
        if not argument:
            return False
        if "$" in argument or "`" in argument:
            return True
        if argument == "~" or argument.startswith(("~/", "~\\")):
            target = Path(os.path.normpath(self.home / argument[2:]))
        elif argument.startswith("~"):
            return True
        else:
            target = Path(os.path.normpath(self.cwd.resolve() / argument))
        workspace = self.workspace.resolve()
        if not _within(workspace, target):
            return True
        try:
            return not _within(workspace, target.resolve())
        except (OSError, RuntimeError):
            return True


def is_known_safe(words: Sequence[str], place: Place) -> bool:
    """Whether a command only reads, and only in the workspace; also inside `bash -c`."""
    normal = ["bash" if word == "zsh" else word for word in words]
    if _reads_only(normal, place):
        return True
    if len(normal) != 3 or normal[0] != "bash" or normal[1] not in {"-lc", "-c"}:
        return False
    if re.search(r"[()<>]", normal[2]):
        return False
    try:
        inner = parse_shell(normal[2])
        return all(
            _reads_only([word.text for word in shell_words(found.text)], place) for found in inner
        )
    except (ShellSyntaxError, BadSubstitution):
        return False


def is_dangerous(words: Sequence[str]) -> bool:
    """Whether a command deletes, escalates or can be made to run others."""
    if not words:
        return False
    program, rest = words[0], words[1:]
    if program == "sudo":
        return is_dangerous(rest)
    if program == "ln":
        return any(
            word == "--symbolic" or (re.match(r"-(?!-)", word) is not None and "s" in word)
            for word in words
        )
    if program == "rm":
        return words[1:2] in (["-f"], ["-rf"], ["-fr"])
    if program == "find":
        return not _FIND_ACTIONS.isdisjoint(words)
    if _is_ripgrep(program):
        return _ripgrep_runs_others(words)
    if program == "git":
        return _git_verdict(words) is False
    return program == "base64" and _base64_writes(rest)


def runs_git(words: Sequence[str]) -> bool:
    """Whether `git` stands where a program would."""
    for index, word in enumerate(words):
        if Path(word.strip()).name.lower() not in {"git", "git.exe"}:
            continue
        before = index - 1
        while before >= 0 and re.match(r"[a-zA-Z_][a-zA-Z0-9_]*=", words[before]):
            before -= 1
        if before < 0 or words[before].lower() in _GIT_MAY_FOLLOW:
            return True
    return False


def _reads_only(words: Sequence[str], place: Place) -> bool:
    if not words or not place.inside:
        return False
    program, rest = words[0], words[1:]
    if program in _NO_PATHS:
        return True
    if program == "cd":
        targets = [word for word in rest if not word.startswith("-")] or ["~"]
        return not any(map(place.escapes, targets))
    if _is_ripgrep(program):
        return (
            _trusted_program(program, place)
            and not _ripgrep_runs_others(rest)
            and _paths_stay(rest, place, pattern_files=True)
        )
    return (
        _READS.get(program, _never)(words, place)
        if program not in _READERS
        else _paths_stay(rest, place)
    )


def _never(_words: Sequence[str], _place: Place) -> bool:
    return False


def _plain_arguments_stay(words: Sequence[str], place: Place) -> bool:
    return not any(place.escapes(word) for word in words[1:] if not word.startswith("-"))


def _base64(words: Sequence[str], place: Place) -> bool:
    return not _base64_writes(words[1:]) and _plain_arguments_stay(words, place)


def _find(words: Sequence[str], place: Place) -> bool:
    return _FIND_ACTIONS.isdisjoint(words) and _plain_arguments_stay(words, place)


def _grep(words: Sequence[str], place: Place) -> bool:
    return _paths_stay(words[1:], place, pattern_files=True)


def _git(words: Sequence[str], _place: Place) -> bool:
    return _git_verdict(words) is True


def _sed(words: Sequence[str], place: Place) -> bool:
    if len(words) > 4 or words[1:2] != ["-n"] or not _SED_PRINT.fullmatch("".join(words[2:3])):
        return False
    return len(words) < 4 or not place.escapes(words[3])


_READS: Final[dict[str, Callable[[Sequence[str], Place], bool]]] = {
    "base64": _base64,
    "find": _find,
    "grep": _grep,
    "git": _git,
    "sed": _sed,
}


def _paths_stay(arguments: Sequence[str], place: Place, *, pattern_files: bool = False) -> bool:
    return not any(place.escapes(path) for path in _path_arguments(arguments, place, pattern_files))


def _path_arguments(arguments: Sequence[str], place: Place, pattern_files: bool) -> Iterator[str]:
    """The arguments of a reading command that may be paths, values of options among them."""
    remaining = iter(arguments)
    options = True
    for argument in remaining:
        if options and argument == "--":
            options = False
        elif not options or not argument.startswith("-"):
            yield argument
        elif argument == "-":
            continue
        elif pattern_files and argument.startswith(("-f", "--file")):
            if argument.startswith("--file="):
                yield argument.removeprefix("--file=")
            elif argument == "--file" or len(argument) == 2:
                yield next(remaining, "")
            else:
                yield argument[2:]
        elif "=" in argument:
            yield argument.partition("=")[2]
        elif os.path.lexists(place.cwd / argument):
            yield argument


def _is_ripgrep(program: str) -> bool:
    return Path(program).name in {"rg", "rg.exe"}


def _trusted_program(program: str, place: Place) -> bool:
    if not Path(program).is_absolute():
        return False
    real = Path(program).resolve()
    if _within(place.workspace.resolve(), real):
        return False
    return any(_within(Path(folder), real) for folder in _TRUSTED_FOLDERS)


def _ripgrep_runs_others(words: Sequence[str]) -> bool:
    return any(word in _RG_FLAGS or word.partition("=")[0] in _RG_VALUES for word in words)


def _base64_writes(arguments: Sequence[str]) -> bool:
    return any(word == "--output" or word.startswith(("--output=", "-o")) for word in arguments)


def _git_verdict(words: Sequence[str]) -> bool | None:
    """True for a reading git command, False for a dangerous one, None for any other."""
    if any(word.startswith(("-c", "--config-env=")) or word == "--config-env" for word in words):
        return False
    found = _git_subcommand(words)
    if found is None:
        return None
    name, arguments = found
    reads = not any(
        word in _GIT_UNSAFE or word.startswith(("--output=", "--exec=")) for word in arguments
    )
    if name == "branch":
        return reads and all(
            word in _GIT_LISTS or word.startswith("--format=") for word in arguments
        )
    return reads


def _git_subcommand(words: Sequence[str]) -> tuple[str, Sequence[str]] | None:
    """The sub-command, if it is one of those that read, and its arguments."""
    index = 1
    while index < len(words):
        word = words[index]
        if word in _GIT_VALUES:
            index += 2
        elif word.startswith("-"):
            index += 1
        elif word in _GIT_READS or word == "branch":
            return word, words[index + 1 :]
        else:
            return None
    return None


def _within(folder: Path, path: Path) -> bool:
    return path == folder or folder in path.parents
