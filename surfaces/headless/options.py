"""The options of the command line.

An editor waits for the answer of a process that imports this module first, so it imports little.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.settings.telemetry import TelemetryOverrides

__all__ = ["HeadlessOptions", "OutputFormat"]


class OutputFormat(StrEnum):
    """The values of `-o`."""

    TEXT = "text"
    JSON = "json"
    STREAM_JSON = "stream-json"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadlessOptions:
    """The command line. `None` leaves it to the settings."""

    prompt: str = ""
    prompt_interactive: str | None = None
    """The first prompt of an interactive session."""
    runtime: str | None = None
    output: OutputFormat | None = None
    resume: str | None = None
    session_id: str | None = None
    """The id of the new session."""
    session_file: Path | None = None
    """A recording from elsewhere to continue."""
    list_sessions: bool = False
    delete_session: str | None = None
    policies: tuple[str, ...] | None = None
    """Policy files, or folders of them, in place of the user's own."""
    admin_policies: tuple[str, ...] | None = None
    allowed_tools: tuple[str, ...] | None = None
    allowed_servers: tuple[str, ...] | None = None
    include_directories: tuple[str, ...] = ()
    extensions: tuple[str, ...] | None = None
    """The only extensions of the session; `none` alone for none."""
    list_extensions: bool = False
    model: str | None = None
    provider: str | None = None
    """The provider of models, by the name of a `Provider`."""
    base_url: str | None = None
    """The address of the provider's API, or of a server that is compatible with it."""
    approval_mode: str | None = None
    settings_file: Path | None = None
    skip_trust: bool = False
    fake_responses: Path | None = None
    strict_responses: bool = True
    """Whether each call gets the next recorded answer, and not the first that fits it."""
    record_responses: Path | None = None
    screen_reader: bool | None = None
    """Whether an interactive session writes plain lines."""
    raw_output: bool = False
    accept_raw_output_risk: bool = False
    telemetry: TelemetryOverrides | None = None

    @property
    def opens_terminal(self) -> bool:
        """Whether the options ask for an interactive session, where there is a terminal."""
        lists = self.list_sessions or self.list_extensions
        return not (self.prompt or lists or self.delete_session is not None)
