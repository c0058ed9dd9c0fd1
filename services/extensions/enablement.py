"""Which extensions are enabled where: `extension-enablement.json` beside the extensions.

Each extension has rules in the order of their making: a folder, with `!` in front to disable, with
`*` behind for all folders below. The last rule that covers a folder decides; without one an
extension is enabled.

Source: `packages/cli` `config/extensions/extensionEnablement.ts`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from services.extensions.manifest import ExtensionError
from services.json_values import parse_json
from services.private_files import make_private_folder, write_private
from services.regular_files import MOST_TEXT, read_regular
from services.wire import js_json_pretty

__all__ = ["ExtensionEnablement", "Rule"]

_FILE: Final = "extension-enablement.json"
_NONE: Final = "none"
_UNREADABLE: Final = (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True)
class Rule:
    """A folder, with a slash at both ends, that enables or disables an extension."""

    folder: str
    disables: bool = False
    below: bool = False
    """Whether it covers the folders below as well."""

    @classmethod
    def parse(cls, text: str) -> Rule:
        """The rule as the file has it."""
        folder = text.removeprefix("!")
        below = folder.endswith("*")
        return cls(folder.removesuffix("*"), text.startswith("!"), below)

    @property
    def text(self) -> str:
        """The rule as the file has it."""
        return f"{'!' if self.disables else ''}{self.folder}{'*' if self.below else ''}"

    def covers(self, folder: str) -> bool:
        """Whether `folder`, with a slash at both ends, is the rule's or below it."""
        return folder == self.folder or (self.below and folder.startswith(self.folder))


class ExtensionEnablement:
    """The rules of one user. Each call reads the file, which other sessions change, too.

    Args:
        folder: where the extensions are.
        only: the names of the only extensions of this session, instead of the rules; `none` alone:
            there is none.
        report: gets the error where the file cannot be read.
    """

    def __init__(
        self, folder: Path, *, only: Sequence[str] | None = None, report: Callable[[str], None]
    ) -> None:
        self._file = folder / _FILE
        self._only = None if only is None else [name.lower() for name in only]
        self._report = report

    @property
    def only(self) -> Sequence[str]:
        """The names, in lower case, of the only extensions that were asked for."""
        return [name for name in self._only or () if name != _NONE]

    def is_enabled(self, name: str, folder: Path) -> bool:
        """Whether the extension called `name` is enabled in `folder`."""
        if self._only is not None:
            return self._only != [_NONE] and name.lower() in self._only
        enabled, place = True, _framed(str(folder))
        try:
            rules = self._rules()
        except ExtensionError as error:
            self._report(str(error))
            rules = {}
        for rule in rules.get(name, ()):
            if rule.covers(place):
                enabled = not rule.disables
        return enabled

    def set_enabled(self, name: str, folder: Path, *, on: bool) -> None:
        """Enable or disable an extension in `folder` and below.

        Raises:
            ExtensionError: the file cannot be read: a new one would lose its rules.
            OSError: the file cannot be written.
        """
        rules = self._rules()
        new = Rule(_framed(str(folder)), disables=not on, below=True)
        kept = [each for each in rules.get(name, ()) if not new.covers(each.folder)]
        self._write({**rules, name: [*kept, new]})

    def forget(self, name: str) -> None:
        """Remove the rules of an extension.

        Raises:
            ExtensionError, OSError: as for `set_enabled`.
        """
        rules = self._rules()
        if rules.pop(name, None) is not None:
            self._write(rules)

    def _rules(self) -> dict[str, list[Rule]]:
        try:
            document: Any = parse_json(read_regular(self._file, MOST_TEXT))
            return {
                str(name): [Rule.parse(text) for text in _texts(entry["overrides"])]
                for name, entry in document.items()
            }
        except FileNotFoundError:
            return {}
        except _UNREADABLE as error:
            raise ExtensionError(
                f"Failed to read extension enablement config. {self._file}: {error}; mend the "
                "file, or remove it"
            ) from error

    def _write(self, rules: dict[str, list[Rule]]) -> None:
        document = {name: {"overrides": [rule.text for rule in own]} for name, own in rules.items()}
        make_private_folder(self._file.parent)
        draft = self._file.with_name(f".{_FILE}.{os.getpid()}.tmp")
        write_private(draft, js_json_pretty(document).encode(), draft=True)
        draft.replace(self._file)


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ValueError("a list of rules expected")
    return value


def _framed(folder: str) -> str:
    text = folder if folder.startswith("/") else f"/{folder}"
    return text if text.endswith("/") else f"{text}/"
