"""The shell: what a command line starts and redirects."""

from __future__ import annotations

from typing import Final

from parity_tests.core_answers.subject import Subject
from services.shell.syntax import (
    REDIRECTION_NAMES,
    command_roots,
    detect_substitution,
    has_redirection,
    parse_command,
    strip_shell_wrapper,
)
from services.wire import JsonObject

__all__ = ["SUBJECTS"]


def _parsed(line: str) -> JsonObject | None:
    read = parse_command(line)
    if read is None:
        return None
    details = [
        [each.name, None if each.name in REDIRECTION_NAMES else each.text, each.start]
        for each in ([] if read.has_error else read.details)
    ]
    return {
        "error": read.has_error,
        "details": details,
        "roots": command_roots(line),
        "redirected": not read.has_error and has_redirection(line),
    }


def _texts(line: str) -> list[str | bool]:
    return [strip_shell_wrapper(line), detect_substitution(line)]


SUBJECTS: Final = (Subject("shell.parsed", _parsed), Subject("shell.texts", _texts))
