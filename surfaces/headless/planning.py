"""`plan_run`: the options of a run, completed from the environment and the settings.

Source: `packages/cli` `config/config.ts`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from services.model.errors import FatalConfigError
from services.policy.sources import system_policies_folder
from services.settings import Settings
from services.settings.telemetry import TelemetryOverrides, TelemetrySettings, resolved
from services.state import ApprovalMode
from services.wire import JsonObject
from surfaces.headless.options import HeadlessOptions, OutputFormat
from surfaces.headless.providers import OtherProvider, chosen_provider, model_of
from surfaces.headless.settings_files import (
    LoadedSettings,
    load_settings,
    loaded_settings,
    with_setting,
)

__all__ = ["APPROVAL_MODES", "Plan", "plan_run", "without_questions"]

APPROVAL_MODES: Final[Mapping[str, ApprovalMode]] = {
    "default": ApprovalMode.DEFAULT,
    "auto_edit": ApprovalMode.AUTO_EDIT,
    "yolo": ApprovalMode.YOLO,
    "plan": ApprovalMode.PLAN,
}
DEFAULT_MODEL: Final = "auto"
ASK_USER: Final = "ask_user"
WEB_SEARCH: Final = "google_web_search"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The decisions before anything runs."""

    settings: Settings
    document: JsonObject
    """The settings document with variables filled in and the command line's values on top."""
    output: OutputFormat
    model: str
    provider: OtherProvider | None = None
    """The provider of models; `None` for Gemini."""
    approval_mode: ApprovalMode
    selected_auth: str | None
    """The settings' own way to sign in."""
    enforced_auth: str | None
    """The only way to sign in that the settings allow; `None`: any."""
    include_directories: tuple[Path, ...]
    """Folders that tools may use in addition to the workspace's own."""
    only_extensions: tuple[str, ...] | None
    """The only extensions to use; `None`: all that are enabled."""
    telemetry: TelemetrySettings
    folder_trusted: bool
    """Whether the user trusts the workspace."""


def plan_run(
    options: HeadlessOptions,
    *,
    root: Path,
    home: Path,
    variables: Mapping[str, str],
    interactive: bool = False,
) -> Plan:
    """Read the settings and decide what the command line leaves open.

    An `interactive` run can ask the user; any other has no tool for that.

    Without a file of its own a run takes the administrator's defaults, over them the user's
    settings, the folder's, which count only where the folder is trusted, and the administrator's.

    Raises:
        FatalConfigError: the settings cannot be used.
    """
    loaded = _with_command_line(_load(options, root, home, variables), options)
    provider = chosen_provider(options, loaded, variables)
    settings = loaded.settings if provider is None else _without_gemini(loaded.settings)
    return Plan(
        settings=(
            replace(settings, interactive=True) if interactive else _without_questions(settings)
        ),
        document=loaded.document,
        output=_output(options, loaded),
        model=(
            _model(options, loaded, variables)
            if provider is None
            else model_of(provider, options, loaded, variables)
        ),
        provider=provider,
        approval_mode=_approval_mode(options, loaded),
        selected_auth=loaded.text("security.auth.selectedType"),
        enforced_auth=loaded.text("security.auth.enforcedType") or None,
        include_directories=_include_directories(options, loaded, root=root, home=home),
        only_extensions=options.extensions,
        telemetry=_telemetry(options, loaded, variables),
        folder_trusted=_trusts_folders(options, _load(options, home, home, variables), variables),
    )


def _load(
    options: HeadlessOptions, root: Path, home: Path, variables: Mapping[str, str]
) -> LoadedSettings:
    if options.settings_file is not None:
        return load_settings([options.settings_file], variables, required=True)
    defaults, system = _system_files(variables)
    mine = home / ".gemini" / "settings.json"
    loaded = load_settings([defaults, mine, system], variables, required=False)
    if root == home or not _trusts_folders(options, loaded, variables):
        return loaded
    files = [defaults, mine, root / ".gemini" / "settings.json", system]
    return load_settings(files, variables, required=False)


def _system_files(variables: Mapping[str, str]) -> tuple[Path, Path]:
    """The administrator's settings files: one below all others, and one above them.

    Source: `packages/cli` `config/settings.ts` (`getSystemSettingsPath`, `getSystemDefaultsPath`).
    """
    folder = system_policies_folder(sys.platform).parent
    system = Path(variables.get("GEMINI_CLI_SYSTEM_SETTINGS_PATH") or folder / "settings.json")
    defaults = variables.get("GEMINI_CLI_SYSTEM_DEFAULTS_PATH")
    return Path(defaults or system.parent / "system-defaults.json"), system


def _trusts_folders(
    options: HeadlessOptions, mine: LoadedSettings, variables: Mapping[str, str]
) -> bool:
    """Whether the folder's own settings count; the user's `mine` can say so for all folders.

    Source: core `utils/trust.ts`, `checkPathTrust`.
    """
    if options.skip_trust:
        return True
    said = variables.get("GEMINI_CLI_TRUST_WORKSPACE")
    if said in ("true", "false"):
        return said == "true"
    return not mine.settings.folder_trust


def _with_command_line(loaded: LoadedSettings, options: HeadlessOptions) -> LoadedSettings:
    """The settings with the command line's values in place of theirs.

    Source: `packages/cli` `config/config.ts`, `loadCliConfig` (`effectiveSettings`).
    """
    document = loaded.document
    said = {
        "policyPaths": options.policies,
        "adminPolicyPaths": options.admin_policies,
        "tools.allowed": options.allowed_tools,
        "mcp.allowed": options.allowed_servers,
        # The names on the command line count whatever the settings exclude.
        "mcp.excluded": None if options.allowed_servers is None else (),
    }
    for key, names in said.items():
        if names is not None:
            document = with_setting(document, key, list(names))
    return loaded if document is loaded.document else loaded_settings(document)


def _include_directories(
    options: HeadlessOptions, loaded: LoadedSettings, *, root: Path, home: Path
) -> tuple[Path, ...]:
    """The folders that the settings and the command line add, those that are there."""
    named = (*loaded.texts("context.includeDirectories"), *options.include_directories)
    folders = (root / os.path.expanduser(name) for name in named)  # noqa: PTH111 - a text
    return tuple(folder for folder in folders if folder.is_dir())


def without_questions(plan: Plan) -> Plan:
    """The plan of a surface that cannot ask the questions of a tool."""
    return replace(plan, settings=_without_questions(plan.settings))


def _without_questions(settings: Settings) -> Settings:
    """The settings without the tool that asks the user: there is none."""
    return replace(
        settings,
        exclude_tools=(*settings.exclude_tools, ASK_USER),
        policy_excluded_tools=(*settings.policy_excluded_tools, ASK_USER),
    )


def _without_gemini(settings: Settings) -> Settings:
    """The settings without what only the Gemini API can do for tools: search, and read pages."""
    return replace(
        settings,
        direct_web_fetch=True,
        exclude_tools=(*settings.exclude_tools, WEB_SEARCH),
        policy_excluded_tools=(*settings.policy_excluded_tools, WEB_SEARCH),
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
        return resolved(
            loaded.settings.telemetry, variables, options.telemetry or TelemetryOverrides()
        )
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
    if mode is ApprovalMode.YOLO and loaded.settings.disable_yolo_mode:
        raise FatalConfigError(
            "YOLO mode is disabled by the settings file's security.disableYoloMode; "
            "choose another --approval-mode"
        )
    return mode
