"""What a shell command line runs: its commands, redirections and substitutions.

A reader of Bash's grammar as far as permission questions need it: which programs are started, and
whether anything is redirected. What it cannot read it reports as an error, which callers take as a
reason to ask. Source: core `utils/shell-utils.ts` (which uses tree-sitter).
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import Final

from services.wire import js_trim

__all__ = [
    "CommandDetail",
    "ParsedCommand",
    "command_roots",
    "detect_substitution",
    "has_redirection",
    "parse_command",
    "strip_shell_wrapper",
]

REDIRECTION_NAMES: Final = frozenset(
    {
        "redirection (<)",
        "redirection (>)",
        "heredoc (<<)",
        "herestring (<<<)",
        "command substitution",
        "backtick substitution",
        "process substitution",
        "subshell",
    }
)
"""Names of details that are not programs."""

_WRAPPER: Final = re.compile(
    r"\s*(?:(?:(?:\S+/)?(?:sh|bash|zsh))\s+-c|cmd\.exe\s+/c"
    r"|(?:powershell|pwsh)(?:\.exe)?\s+(?:-NoProfile\s+)?-Command)\s+",
    re.IGNORECASE,
)
_REDIRECTION: Final = re.compile(r"(?:\d+)?(?:<<<|<<-?|<>|>>|>\||[<>]&|[<>])|&>>?")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")
_DECLARATIONS: Final = frozenset({"declare", "typeset", "export", "readonly", "local"})
_UNSETS: Final = frozenset({"unset", "unsetenv"})
_OPENERS: Final = frozenset({"if", "while", "until", "then", "elif", "else", "do", "!", "{"})
_CLOSERS: Final = frozenset({"fi", "done", "esac", "}"})
_BLANK: Final = " \t"


@dataclass(frozen=True, slots=True)
class CommandDetail:
    """One thing that the line does; `name` is a program's or one of `REDIRECTION_NAMES`."""

    name: str
    text: str
    start: int
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedCommand:
    """The details in order of appearance; not to be trusted when `has_error`."""

    details: tuple[CommandDetail, ...]
    has_error: bool


class _Unreadable(Exception):
    """The line is not Bash, or not Bash that this reader knows."""


def parse_command(command: str) -> ParsedCommand | None:
    """Read `command`; `None` for a blank one."""
    if not command.strip():
        return None
    reader = _Reader(command)
    try:
        reader.read_list("")
        has_error = not reader.details or re.search(r"\$\{[^}]*@[pP]\}", command) is not None
    except _Unreadable:
        has_error = True
    details = sorted(reader.details, key=lambda detail: detail.start)
    return ParsedCommand(tuple(details), has_error)


def command_roots(command: str) -> list[str]:
    """The programs that `command` starts, in order, repeated; none when it cannot be read."""
    parsed = parse_command(command)
    if parsed is None or parsed.has_error:
        return []
    return [
        detail.name
        for detail in parsed.details
        if detail.name and detail.name not in REDIRECTION_NAMES
    ]


def has_redirection(command: str) -> bool:
    """Whether anything is redirected; by the look of it when the line cannot be read."""
    if not re.search("[<>]", command):
        return False
    parsed = parse_command(command)
    if parsed is None or (parsed.has_error and not parsed.details):
        return True
    kinds = ("redirection", "heredoc", "herestring")
    return any(detail.name.startswith(kinds) for detail in parsed.details)


def strip_shell_wrapper(command: str) -> str:
    """The inside of `bash -c '…'` and its like; any other command, trimmed."""
    match = _WRAPPER.match(command)
    if match is None:
        return js_trim(command)
    inner = js_trim(command[match.end() :])
    if len(inner) < 2 or inner[0] not in "\"'" or inner[-1] != inner[0]:
        return inner
    if match[0].strip().endswith("-c") and inner[0] == '"':
        try:
            words = shlex.split(inner)
        except ValueError:
            words = []
        if len(words) == 1:
            return words[0]
    return inner[1:-1]


def detect_substitution(command: str) -> bool:
    """Whether Bash would run a command inside a word: `$(…)`, backticks, `<(…)`, `>(…)`."""
    single = double = False
    place = 0
    while place < len(command):
        character = command[place]
        following = command[place + 1 : place + 2]
        if character == "'" and not double:
            single = not single
        elif character == '"' and not single:
            double = not double
        elif not single:
            if character == "\\" and following and (not double or following in '$`"\\\n'):
                place += 1
            elif character == "`" or (
                following == "(" and (character == "$" or (character in "<>" and not double))
            ):
                return True
        place += 1
    return False


class _Reader:
    """Walks the text once, left to right, noting what it meets."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.details: list[CommandDetail] = []
        self._heredocs: list[tuple[str, bool]] = []

    def read_list(self, closer: str) -> None:
        """Commands up to `closer` (`)`, a backtick, or nothing: the end), which is not consumed."""
        needs_command = False
        while True:
            self._skip_space()
            if self.place >= len(self.text) or (closer and self._at(closer)):
                if needs_command or (closer and self.place >= len(self.text)):
                    raise _Unreadable
                return
            if self._at("&&") or self._at("||") or self._at("|"):
                raise _Unreadable
            before = self.place
            self._read_command(closer)
            if self.place == before:
                raise _Unreadable
            self._skip_blank()
            needs_command = False
            for operator in ("&&", "||", "|&", ";;&", ";;", ";&", "|", ";", "&"):
                if self._at(operator):
                    self.place += len(operator)
                    needs_command = operator in ("&&", "||", "|", "|&")
                    if operator in (";;&", ";;", ";&"):
                        self._skip_case_pattern()
                    break

    def _read_command(self, closer: str) -> None:
        start = self.place
        if self._at("(("):
            self._skip_to("))")
            self._note(self.text[start : self.place], start)
        elif self._at("("):
            self.place += 1
            self.read_list(")")
            self.place += 1
            self._note("subshell", start)
        elif self._at("[[") or re.match(r"\[\s", self.text[start:]):
            self._read_test()
        else:
            self._read_simple(closer)
            return
        self._read_redirections(closer)

    def _read_test(self) -> None:
        start = self.place
        opener, end = ("[[", "]]") if self._at("[[") else ("[", "]")
        self.place += len(opener)
        while True:
            self._skip_space()
            if self.place >= len(self.text):
                raise _Unreadable
            if self._at(end):
                self.place += len(end)
                break
            if self.text[self.place] in "<>&|();":
                self.place += 1
            else:
                self._read_word("")
        self._note(opener, start)

    def _read_simple(self, closer: str) -> None:
        """Assignments, a name, words and redirections; keywords hand over to what follows them."""
        start = end = self.place
        name: str | None = None
        arguments: list[str] = []
        while True:
            self._skip_blank()
            if self._at_end_of_command(closer):
                break
            if self._read_redirection(closer):
                continue
            if self._at("("):
                self._read_function_or_case(name, arguments)
                return
            word_start = self.place
            word = self._read_word(closer)
            if name is None and word in _OPENERS | _CLOSERS:
                self._read_redirections(closer)
                return
            if name is None and word in ("for", "select", "case", "function"):
                self._read_head(word, closer)
                return
            if name is None and _ASSIGNMENT.match(word):
                if self._at("("):
                    self._skip_array(closer)
                continue
            if name is None:
                name = word
                start = start if word not in _DECLARATIONS | _UNSETS else word_start
            elif self._at("(") and _ASSIGNMENT.match(word):
                self._skip_array(closer)
            else:
                arguments.append(word)
            end = self.place
        if name is not None:
            text = self.text[start:end].strip()
            self.details.append(CommandDetail(_unquoted(name), text, start, tuple(arguments)))

    def _read_head(self, keyword: str, closer: str) -> None:
        """`for x in a b`, `case x in`, `function f`: words that are not commands."""
        if keyword == "for" and self._skip_blank() and self._at("(("):
            self._skip_to("))")
            return
        while not self._at_end_of_command(closer):
            self._skip_blank()
            if self._at_end_of_command(closer) or self._at("(") or self._at("{"):
                break
            if self._read_word(closer) == "in" and keyword == "case":
                self._skip_case_pattern()
                break
        if keyword == "function" and self._at("()"):
            self.place += 2

    def _read_function_or_case(self, name: str | None, arguments: list[str]) -> None:
        if name is not None and not arguments and re.match(r"\(\s*\)", self.text[self.place :]):
            self._skip_to(")")
            return
        raise _Unreadable

    def _skip_case_pattern(self) -> None:
        match = re.compile(r"\s*(?!esac\b)\(?[^()\n]*\)").match(self.text, self.place)
        if match is not None:
            self.place = match.end()

    def _read_redirections(self, closer: str) -> None:
        self._skip_blank()
        while self._read_redirection(closer):
            self._skip_blank()

    def _read_redirection(self, closer: str) -> bool:
        match = _REDIRECTION.match(self.text, self.place)
        if match is None or self.text.startswith("(", match.end()):
            return False
        start, operator = self.place, match[0].lstrip("0123456789")
        self.place = match.end()
        self._skip_blank()
        word = self._read_word(closer)
        if operator == "<<<":
            self._note("herestring (<<<)", start)
        elif operator.startswith("<<"):
            self._heredocs.append((_unquoted(word).replace("\\", ""), operator == "<<-"))
            self._note("heredoc (<<)", start)
        else:
            self._note("redirection (<)" if "<" in operator else "redirection (>)", start)
        return True

    def _read_word(self, closer: str) -> str:
        """One word, quotes kept; what is substituted inside it is noted. Never an empty one."""
        start = self.place
        while self.place < len(self.text):
            character = self.text[self.place]
            if character == "`" and closer == "`":
                break
            if character == "\\":
                self.place += 2
            elif character == "'":
                self.place += 1
                self._skip_to("'")
            elif character == '"':
                self._read_double_quotes()
            elif character in "$`<>" and self._read_substitution():
                continue
            elif character in " \t\n;&|<>()":
                break
            else:
                self.place += 1
        if self.place > len(self.text) or self.place == start:
            raise _Unreadable
        return self.text[start : self.place]

    def _read_double_quotes(self) -> None:
        self.place += 1
        while True:
            if self.place >= len(self.text):
                raise _Unreadable
            character = self.text[self.place]
            if character == '"':
                self.place += 1
                return
            if character == "\\":
                self.place += 2
            elif character not in "$`" or not self._read_substitution():
                self.place += 1

    def _read_substitution(self) -> bool:
        start = self.place
        if self._at("$(("):
            self._skip_to("))")
        elif self._at("${"):
            self._skip_braces()
        elif self._at("$("):
            self.place += 2
            self.read_list(")")
            self.place += 1
            self._note("command substitution", start)
        elif self._at("`"):
            self.place += 1
            self.read_list("`")
            self.place += 1
            self._note("command substitution", start)
        elif self._at("<(") or self._at(">("):
            self.place += 2
            self.read_list(")")
            self.place += 1
            self._note("process substitution", start)
        elif self._at("$"):
            self.place += 1
        else:
            return False
        return True

    def _skip_braces(self) -> None:
        self.place += 2
        while not self._at("}"):
            if self.place >= len(self.text):
                raise _Unreadable
            if self.text[self.place] not in "$`" or not self._read_substitution():
                self.place += 1
        self.place += 1

    def _skip_array(self, closer: str) -> None:
        self.place += 1
        while not self._at(")"):
            self._skip_space()
            if self.place >= len(self.text):
                raise _Unreadable
            if not self._at(")"):
                self._read_word(closer)
        self.place += 1

    def _at_end_of_command(self, closer: str) -> bool:
        if self.place >= len(self.text) or (closer and self._at(closer)):
            return True
        if self._at("&>"):
            return False
        if self.text[self.place] == "#":
            return True
        if self.text[self.place] == ")":
            raise _Unreadable
        return self.text[self.place] in ";&|\n"

    def _skip_space(self) -> None:
        while self.place < len(self.text):
            character = self.text[self.place]
            if character == "#":
                end = self.text.find("\n", self.place)
                self.place = len(self.text) if end < 0 else end
            elif character == "\n":
                self.place += 1
                self._skip_heredocs()
            elif character in _BLANK or character == "\r":
                self.place += 1
            elif self._at("\\\n"):
                self.place += 2
            else:
                return

    def _skip_blank(self) -> bool:
        while self.place < len(self.text) and (self.text[self.place] in _BLANK or self._at("\\\n")):
            self.place += 2 if self._at("\\\n") else 1
        return True

    def _skip_heredocs(self) -> None:
        for delimiter, tabs in self._heredocs:
            while self.place < len(self.text):
                line, _, _ = self.text[self.place :].partition("\n")
                self.place = min(len(self.text), self.place + len(line) + 1)
                if (line.lstrip("\t") if tabs else line) == delimiter:
                    break
        self._heredocs.clear()

    def _skip_to(self, closer: str) -> None:
        end = self.text.find(closer, self.place)
        if end < 0:
            raise _Unreadable
        self.place = end + len(closer)

    def _at(self, text: str) -> bool:
        return self.text.startswith(text, self.place)

    def _note(self, name: str, start: int) -> None:
        self.details.append(CommandDetail(name, self.text[start : self.place].strip(), start))


def _unquoted(word: str) -> str:
    if len(word) >= 2 and word[0] in "\"'" and word[-1] == word[0]:
        return word[1:-1]
    return word
