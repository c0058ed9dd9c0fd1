"""The simple commands inside a shell command line, for checking each of them.

A recursive reader of the shell grammar as far as it is needed to say which programs a line would
start: lists, pipelines, groups, subshells, loops, conditionals, substitutions and redirections.
What it does not know (`case`, functions, `select`, `coproc`) is an error, and an error
makes the caller fall back to the default decision: never to "allow". Source of the result's shape:
core `utils/shell-utils.ts` (`parseBashCommandDetails`, `hasRedirection`, `stripShellWrapper`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from services.policy.shell_words import BadSubstitution, shell_words

__all__ = [
    "ShellCommand",
    "ShellSyntaxError",
    "command_roots",
    "has_redirection",
    "parse_shell",
    "without_shell_wrapper",
]

_WRAPPER = re.compile(
    r"^\s*(?:(?:(?:\S+/)?(?:sh|bash|zsh))\s+-c|cmd\.exe\s+/c"
    r"|powershell(?:\.exe)?\s+(?:-NoProfile\s+)?-Command"
    r"|pwsh(?:\.exe)?\s+(?:-NoProfile\s+)?-Command)\s+",
    re.IGNORECASE,
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_REDIRECT = re.compile(r"(?:\d+|\{\w+\})?(<<<|<<-?|<>|<&|>&|>>|>\||&>>|&>|<|>)")
_ANSI_QUOTE = re.compile(r"\$'(?:\\.|[^'\\])*'", re.DOTALL)
_PLAIN_WORD = re.compile(r"[^\s;&|()<>]+")
_BLOCK_WORDS: Final = frozenset(
    {"if", "then", "else", "elif", "fi", "while", "until", "do", "done", "{", "}", "!"}
)
_UNKNOWN_WORDS: Final = frozenset({"case", "esac", "select", "function", "coproc"})
_LONGEST: Final = 100_000
_DEEPEST: Final = 50


class ShellSyntaxError(ValueError):
    """A command line that could not be read for certain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellCommand:
    """One simple command: its program, its text without redirections, where it starts."""

    name: str
    text: str
    start: int


@dataclass(slots=True)
class _Line:
    commands: list[ShellCommand]
    redirected: bool = False


def parse_shell(command: str) -> list[ShellCommand]:
    """Every simple command of `command`, also inside substitutions, in order of appearance.

    Raises:
        ShellSyntaxError: not a command line that this reader can vouch for, or no command in it.
    """
    commands = _read(command).commands
    if not commands:
        raise ShellSyntaxError("no command")
    return sorted(commands, key=lambda found: found.start)


def has_redirection(command: str) -> bool:
    """Whether input or output is redirected; a line that cannot be read counts by its `<`, `>`."""
    if "<" not in command and ">" not in command:
        return False
    try:
        return _read(command).redirected
    except ShellSyntaxError:
        return True


def command_roots(command: str) -> list[str]:
    """The programs that `command` would start, in order; none when it cannot be read."""
    try:
        return [found.name for found in parse_shell(command)]
    except ShellSyntaxError:
        return []


def without_shell_wrapper(command: str) -> str:
    """The inside of `bash -c '…'` and its like; any other command as it is, trimmed."""
    match = _WRAPPER.match(command)
    if match is None:
        return command.strip()
    inside = command[match.end() :].strip()
    if len(inside) < 2 or inside[0] != inside[-1] or inside[0] not in "\"'":
        return inside
    if match.group().strip().endswith("-c") and inside[0] == '"':
        try:
            words = shell_words(inside, keep_variables=True)
        except BadSubstitution:
            return inside[1:-1]
        if len(words) == 1 and words[0].literal:
            return words[0].text
    return inside[1:-1]


def _read(command: str) -> _Line:
    if len(command) > _LONGEST:
        raise ShellSyntaxError("too long")
    line = _Line([])
    reader = _Reader(command, line, 0, 0)
    reader.commands_until("")
    return line


class _Reader:
    """Reads `text` from `at`; `offset` is where `text` starts in the whole line."""

    def __init__(self, text: str, line: _Line, offset: int, depth: int) -> None:
        if depth > _DEEPEST:
            raise ShellSyntaxError("nested too deep")
        self._text = text
        self._line = line
        self._offset = offset
        self._depth = depth
        self._at = 0
        self._here: list[tuple[str, bool]] = []
        self._open: list[str] = []

    def commands_until(self, closing: str) -> None:
        """Read a list of commands up to `closing` (`)`, or the end for nothing)."""
        expect_command = False
        while True:
            self._skip_blanks()
            if self._at >= len(self._text):
                if closing or expect_command or self._here or self._open:
                    raise ShellSyntaxError("unexpected end")
                return
            character = self._text[self._at]
            if closing and character == closing:
                if expect_command or self._open:
                    raise ShellSyntaxError("unexpected close")
                self._at += 1
                return
            if character == "\n":
                self._at += 1
                self._skip_here_documents()
                continue
            operator = self._operator()
            if operator:
                raise ShellSyntaxError(f"unexpected {operator}")
            before = self._at
            self._command()
            if self._at == before:
                raise ShellSyntaxError(f"unexpected {character}")
            self._skip_blanks()
            after = self._operator()
            expect_command = after in {"&&", "||", "|", "|&"}
            if not after and self._at < len(self._text) and self._text[self._at] not in "\n)":
                raise ShellSyntaxError(f"unexpected {self._text[self._at]}")

    def _operator(self) -> str:
        for operator in ("&&", "||", "|&", ";;", ";", "|", "&"):
            if self._text.startswith(operator, self._at):
                if operator == "&" and self._text.startswith("&>", self._at):
                    return ""
                self._at += len(operator)
                return operator
        return ""

    def _skip_blanks(self) -> None:
        while self._at < len(self._text):
            if self._text[self._at] in " \t\r":
                self._at += 1
            elif self._text.startswith("\\\n", self._at):
                self._at += 2
            elif self._text[self._at] == "#":
                end = self._text.find("\n", self._at)
                self._at = len(self._text) if end < 0 else end
            else:
                return

    def _command(self) -> None:
        """Read one command: a group, a subshell, a reserved word, or a simple command."""
        if self._text.startswith("((", self._at):
            raise ShellSyntaxError("arithmetic command")
        if self._text[self._at] == "(":
            self._nested(self._at + 1)
            self._trailing_redirects()
            return
        word = self._peek_word()
        if word in _UNKNOWN_WORDS:
            raise ShellSyntaxError(f"{word} is not read")
        if word == "for":
            self._for()
        elif word in _BLOCK_WORDS:
            self._block_word(word)
        else:
            self._simple()

    def _block_word(self, word: str) -> None:
        closers = {"fi": "if", "done": "do", "}": "{"}
        if word in {"if", "do", "{"}:
            self._open.append(word)
        elif word in closers:
            if not self._open or self._open.pop() != closers[word]:
                raise ShellSyntaxError(f"unexpected {word}")
            self._at += len(word)
            self._trailing_redirects()
            return
        elif word in {"then", "else", "elif"} and self._open[-1:] != ["if"]:
            raise ShellSyntaxError(f"unexpected {word}")
        self._at += len(word)
        self._skip_blanks()
        if self._at < len(self._text) and self._text[self._at] not in "\n;&|)":
            self._command()

    def _for(self) -> None:
        """`for NAME in WORDS`; the body is the `do … done` that follows."""
        self._at += len("for")
        self._skip_blanks()
        if self._text.startswith("((", self._at):
            raise ShellSyntaxError("arithmetic for")
        self._word()
        self._skip_blanks()
        if self._peek_word() == "in":
            self._at += 2
            self._words_to_end()

    def _words_to_end(self) -> None:
        while True:
            self._skip_blanks()
            if self._at >= len(self._text) or self._text[self._at] in "\n;&|)":
                return
            self._word()

    def _trailing_redirects(self) -> None:
        self._skip_blanks()
        while self._redirect():
            self._skip_blanks()

    def _simple(self) -> None:
        start = end = self._at
        name: str | None = None
        while True:
            self._skip_blanks()
            if self._at >= len(self._text) or self._text[self._at] in "\n;|)":
                break
            here_string = name is not None and self._text.startswith("<<<", self._at)
            if self._redirect():
                end = self._at if here_string else end
                continue
            if self._text[self._at] == "&":
                break
            if self._text[self._at] == "(":
                raise ShellSyntaxError("function or array")
            word = self._word()
            end = self._at
            if name is None and not _ASSIGNMENT.match(word):
                name = word
        if name is not None:
            text = self._text[start:end].strip()
            self._line.commands.append(
                ShellCommand(name=_bare(name), text=text, start=self._offset + start)
            )

    def _redirect(self) -> bool:
        match = _REDIRECT.match(self._text, self._at)
        if match is None or self._text.startswith(("<(", ">("), self._at):
            return False
        self._line.redirected = True
        self._at = match.end()
        self._skip_blanks()
        substituted = self._text.startswith(("<(", ">("), self._at)
        if not substituted and self._text[self._at : self._at + 1] in {*"\n;|&)<>", ""}:
            raise ShellSyntaxError("redirection without a target")
        target = self._word()
        if match.group(1).startswith("<<") and match.group(1) != "<<<":
            self._here.append((_bare(target), target != _bare(target) or "\\" in target))
        return True

    def _skip_here_documents(self) -> None:
        """Pass over the texts announced by `<<`; one without quotes may hold substitutions."""
        for marker, literal in self._here:
            while True:
                if self._at >= len(self._text):
                    raise ShellSyntaxError("here-document without an end")
                end = self._text.find("\n", self._at)
                end = len(self._text) if end < 0 else end
                line = self._text[self._at : end]
                self._at = min(end + 1, len(self._text))
                if line.lstrip("\t") == marker.replace("\\", ""):
                    break
                if not literal and ("$(" in line or "`" in line):
                    raise ShellSyntaxError("substitution in a here-document")
        self._here.clear()

    def _peek_word(self) -> str:
        match = _PLAIN_WORD.match(self._text, self._at)
        return match.group() if match else ""

    def _word(self) -> str:
        """Read one word, going into the substitutions in it; returns it as written."""
        start = self._at
        while self._at < len(self._text):
            character = self._text[self._at]
            if character in " \t\r\n;|&)":
                break
            if character in "<>":
                if self._text[self._at + 1 : self._at + 2] != "(":
                    break
                self._nested(self._at + 2)
            elif character == "(":
                break
            elif character == "'":
                self._at = self._close("'") + 1
            elif character == '"':
                self._at += 1
                self._double_quoted()
            elif self._text.startswith("$'", self._at):
                self._ansi_quoted()
            else:
                self._expandable(character)
        return self._text[start : self._at]

    def _double_quoted(self) -> None:
        while True:
            if self._at >= len(self._text):
                raise ShellSyntaxError("unclosed quote")
            character = self._text[self._at]
            if character == '"':
                self._at += 1
                return
            self._expandable(character)

    def _expandable(self, character: str) -> None:
        """One character, an escape, or a whole expansion, at the current position."""
        if character == "\\":
            self._at += 2
        elif character == "`":
            end = self._close("`")
            inside = self._text[self._at + 1 : end]
            if "\\" in inside:
                raise ShellSyntaxError("escape in backticks")
            start = self._offset + self._at + 1
            _Reader(inside, self._line, start, self._depth + 1).commands_until("")
            self._at = end + 1
        elif self._text.startswith("$((", self._at):
            self._arithmetic()
        elif self._text.startswith("$(", self._at):
            self._nested(self._at + 2)
        elif self._text.startswith("${", self._at):
            self._parameter()
        else:
            self._at += 1

    def _ansi_quoted(self) -> None:
        match = _ANSI_QUOTE.match(self._text, self._at)
        if match is None:
            raise ShellSyntaxError("unclosed quote")
        self._at = match.end()

    def _arithmetic(self) -> None:
        end = self._text.find("))", self._at)
        inside = self._text[self._at + 3 : end]
        if end < 0 or any(mark in inside for mark in "()`'\""):
            raise ShellSyntaxError("arithmetic")
        self._at = end + 2

    def _parameter(self) -> None:
        end = self._text.find("}", self._at)
        inside = self._text[self._at : end]
        if (
            end < 0
            or any(mark in inside for mark in ("$(", "`", "'", '"', "@"))
            or "{" in inside[2:]
        ):
            raise ShellSyntaxError("parameter expansion")
        self._at = end + 1

    def _nested(self, start: int) -> None:
        """Read commands from `start` to the closing parenthesis, one level deeper."""
        inner = _Reader(self._text[start:], self._line, self._offset + start, self._depth + 1)
        inner.commands_until(")")
        self._at = start + inner._at

    def _close(self, mark: str) -> int:
        end = self._text.find(mark, self._at + 1)
        if end < 0:
            raise ShellSyntaxError("unclosed quote")
        return end


def _bare(word: str) -> str:
    """A word without the quotes around it."""
    if len(word) >= 2 and word[0] == word[-1] and word[0] in "\"'":
        return word[1:-1]
    return word.strip()
