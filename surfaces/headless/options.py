"""What a run is asked to do, and what of it the environment and the settings decide.

Source: `packages/cli` `config/config.ts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from services.model.errors import FatalConfigError
from services.settings import Settings
from services.state import ApprovalMode
from services.telemetry_settings import TelemetryOverrides, TelemetrySettings, resolved
from services.wire import JsonObject
from surfaces.headless.presenters import OutputFormat
from surfaces.headless.settings_files import LoadedSettings, load_settings

__all__ = ["APPROVAL_MODES", "HeadlessOptions", "Plan", "plan_run"]

APPROVAL_MODES: Final[Mapping[str, ApprovalMode]] = {
    "default": ApprovalMode.DEFAULT,
    "auto_edit": ApprovalMode.AUTO_EDIT,
    "yolo": ApprovalMode.YOLO,
    "plan": ApprovalMode.PLAN,
}
DEFAULT_MODEL: Final = "auto"
ASK_USER: Final = "ask_user"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadlessOptions:
    """The command line. `None` leaves it to the settings."""

    prompt: str = ""
    runtime: str | None = None
    output: OutputFormat | None = None
    resume: str | None = None
    model: str | None = None
    approval_mode: str | None = None
    settings_file: Path | None = None
    skip_trust: bool = False
    fake_responses: Path | None = None
    record_responses: Path | None = None
    raw_output: bool = False
    accept_raw_output_risk: bool = False
    telemetry: TelemetryOverrides = field(default_factory=TelemetryOverrides)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is settled before anything runs."""

    settings: Settings
    document: JsonObject
    """The settings file's own words, variables filled in."""
    output: OutputFormat
    model: str
    approval_mode: ApprovalMode
    selected_auth: str | None
    """The settings' own way to sign in."""
    telemetry: TelemetrySettings


def plan_run(
    options: HeadlessOptions, *, root: Path, home: Path, variables: Mapping[str, str]
) -> Plan:
    """Read the settings and decide what the command line leaves open.

    Without a file of its own a run takes the user's settings, and over them the folder's, which
    count only where the folder is trusted.

    Raises:
        FatalConfigError: the settings cannot be used.
    """
    loaded = _load(options, root, home, variables)
    return Plan(
        settings=_without_questions(loaded.settings),
        document=loaded.document,
        output=_output(options, loaded),
        model=_model(options, loaded, variables),
        approval_mode=_approval_mode(options, loaded),
        selected_auth=loaded.text("security.auth.selectedType"),
        telemetry=_telemetry(options, loaded, variables),
    )


def _load(
    options: HeadlessOptions, root: Path, home: Path, variables: Mapping[str, str]
) -> LoadedSettings:
    if options.settings_file is not None:
        return load_settings([options.settings_file], variables, required=True)
    files = [home / ".gemini" / "settings.json"]
    trusted = options.skip_trust or variables.get("GEMINI_CLI_TRUST_WORKSPACE") == "true"
    if trusted and root != home:
        files.append(root / ".gemini" / "settings.json")
    return load_settings(files, variables, required=False)


def _without_questions(settings: Settings) -> Settings:
    """The settings without the tool that asks people: there is nobody."""
    return replace(
        settings,
        exclude_tools=(*settings.exclude_tools, ASK_USER),
        policy_excluded_tools=(*settings.policy_excluded_tools, ASK_USER),
    )


def _output(options: HeadlessOptions, loaded: LoadedSettings) -> OutputFormat:
    if options.output is not None:
        return options.output
    asked = loaded.text("output.format")
    try:
        return OutputFormat(asked) if asked is not None else OutputFormat.TEXT
    except ValueError:
        known = ", ".join(OutputFormat)
        raise FatalConfigError(
            f"the settings file's output.format is {asked!r}; write one of {known}"
        ) from None


def _telemetry(
    options: HeadlessOptions, loaded: LoadedSettings, variables: Mapping[str, str]
) -> TelemetrySettings:
    try:
        return resolved(loaded.settings.telemetry, variables, options.telemetry)
    except ValueError as error:
        raise FatalConfigError(f"telemetry cannot be set up: {error}") from error


def _model(options: HeadlessOptions, loaded: LoadedSettings, variables: Mapping[str, str]) -> str:
    asked = options.model or variables.get("GEMINI_MODEL") or loaded.text("model.name") or ""
    return asked.strip() or DEFAULT_MODEL


def _approval_mode(options: HeadlessOptions, loaded: LoadedSettings) -> ApprovalMode:
    """`yolo` comes from the command line alone."""
    usual = loaded.text("general.defaultApprovalMode")
    asked = options.approval_mode or (usual if usual != "yolo" else None) or "default"
    mode = APPROVAL_MODES.get(asked)
    if mode is None:
        raise FatalConfigError(
            f"Invalid approval mode: {asked}. Valid values are: yolo, auto_edit, plan, default"
        )
    security = loaded.document.get("security")
    no_yolo = isinstance(security, Mapping) and security.get("disableYoloMode") is True
    if mode is ApprovalMode.YOLO and no_yolo:
        raise FatalConfigError(
            "YOLO mode is disabled by the settings file's security.disableYoloMode; "
            "choose another --approval-mode"
        )
    return mode
