"""The shell blocks of a page: their commands, what each should exit with and print, and a shell.

A block is fenced as `sh` (commands only) or `console` (lines with `$ ` in front are commands, what
follows a command is its output). The comment behind a command may say how it ends, how long it
takes, and that it asks the user for something: `# exits with 1`, `# about 5 min`, `# asks twice`.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt

__all__ = ["Block", "Command", "Ran", "blocks", "ran"]

_EXIT: Final = re.compile(r"\bexits with (\d+)")
_TAKES: Final = re.compile(r"\b(\d+|an?) (s|second|min|minute|h|hour)s?\b")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600}
_ASKS: Final = re.compile(r"\basks\b")
_HERE_DOCUMENT: Final = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?")
_LINES_COMPARED: Final = re.compile(r"…")


@dataclass(frozen=True)
class Command:
    """One command of a block, continuation lines included.

    `exit_code`, `seconds` and `asks` are what its comment says; `output` is what the page shows.
    """

    line: int
    text: str
    exit_code: int = 0
    seconds: int = 0
    asks: bool = False
    output: tuple[str, ...] = ()

    def shows(self, printed: str) -> bool:
        """Whether the first line that the page shows is the first one printed; `…` is any text."""
        if not self.output:
            return True
        first = next((line for line in printed.splitlines() if line.strip()), "")
        parts = _LINES_COMPARED.split(self.output[0].rstrip())
        return re.fullmatch(".*".join(map(re.escape, parts)), first.rstrip()) is not None


@dataclass(frozen=True)
class Block:
    """One fenced block: the page's line where it begins, and its commands."""

    line: int
    commands: tuple[Command, ...]

    @property
    def seconds(self) -> int:
        """How long the page says that the whole block takes."""
        return sum(command.seconds for command in self.commands)

    @property
    def asks(self) -> bool:
        """Whether one of its commands asks the user, so that no test can run the block."""
        return any(command.asks for command in self.commands)


@dataclass(frozen=True)
class Ran:
    """A command that ran, with what it exited with and printed to both streams, in order."""

    command: Command
    exit_code: int
    printed: str


def blocks(text: str) -> list[Block]:
    """Return the blocks of the Markdown `text`, in order."""
    found = []
    for token in MarkdownIt().parse(text):
        language = token.info.strip()
        if token.type == "fence" and language in {"sh", "console"}:
            assert token.map is not None
            line = token.map[0] + 1
            lines = token.content.splitlines()
            commands = _prompted(lines, line) if language == "console" else _plain(lines, line)
            found.append(Block(line, tuple(commands)))
    return found


def _plain(lines: list[str], start: int) -> Iterator[Command]:
    for at, whole in _joined(lines):
        if whole.strip() and not whole.lstrip().startswith("#"):
            yield _command(whole, start + 1 + at, ())


def _prompted(lines: list[str], start: int) -> Iterator[Command]:
    joined = list(_joined(lines))
    prompts = [i for i, (_, whole) in enumerate(joined) if whole.startswith("$ ")]
    for i, end in zip(prompts, [*prompts[1:], len(joined)], strict=True):
        at, whole = joined[i]
        shown = [line for _, line in joined[i + 1 : end] if line.strip()]
        yield _command(whole.removeprefix("$ "), start + 1 + at, tuple(shown))


def _joined(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Each command with the lines that go on with it, and the index of its first line.

    A backslash continues a line, and so does a here-document up to its last line.
    """
    waiting: list[str] = []
    ends_with = ""
    for at, line in enumerate(lines):
        part = line.removesuffix("\\").rstrip()
        if ends_with:
            waiting[-1] += f"\n{line}"
        else:
            waiting.append(part.lstrip() if waiting else part)
        here = None if ends_with else _HERE_DOCUMENT.search(line)
        ends_with = here[1] if here else "" if line == ends_with else ends_with
        if not ends_with and not line.endswith("\\"):
            whole = " ".join(waiting)
            yield at - whole.count("\n") - len(waiting) + 1, whole
            waiting = []


def _command(whole: str, line: int, output: tuple[str, ...]) -> Command:
    first, newline, rest = whole.partition("\n")
    text, comment = _split_comment(first)
    ends = _EXIT.search(comment)
    seconds = sum(
        (int(count) if count.isdigit() else 1) * _SECONDS[unit[0]]
        for count, unit in _TAKES.findall(comment)
    )
    asks = _ASKS.search(comment) is not None
    return Command(line, text + newline + rest, int(ends[1]) if ends else 0, seconds, asks, output)


def _split_comment(whole: str) -> tuple[str, str]:
    """Split off the comment: from a `#` outside quotes that a blank stands before."""
    quoted = ""
    for at, character in enumerate(whole):
        if quoted:
            quoted = "" if character == quoted else quoted
        elif character in "'\"":
            quoted = character
        elif character == "#" and (at == 0 or whole[at - 1].isspace()):
            return whole[:at].strip(), whole[at + 1 :].strip()
    return whole.strip(), ""


def ran(
    commands: list[Command], folder: Path, kept: Path, environment: Mapping[str, str]
) -> list[Ran]:
    """Run `commands` one after the other in one bash, begun in `folder`, with no input.

    What they print goes into files in `kept`. A command whose exit code is not the expected one
    does not stop the ones behind it.
    """
    kept.mkdir()
    script = []
    for number, command in enumerate(commands):
        file = kept / str(number)
        file.write_text(command.text + "\n", "utf-8")
        # `.` keeps what the command sets and where it goes for the commands behind it.
        script.append(f". '{file}' > '{file}.out' 2>&1 < /dev/null; echo $? > '{file}.code'")
    words = ["bash", "-c", "\n".join(script)]
    subprocess.run(words, cwd=folder, env=dict(environment), check=True)
    return [
        Ran(
            command,
            int((kept / f"{number}.code").read_text()),
            (kept / f"{number}.out").read_text("utf-8", "replace"),
        )
        for number, command in enumerate(commands)
    ]
