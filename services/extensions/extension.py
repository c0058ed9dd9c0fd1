"""`Extension`: an installed extension with all that it brings, read from its folder.

Source: `packages/cli` `config/extension-manager.ts` (`_buildExtension`, `toOutputString`), core
`policy/config.ts` (`loadExtensionPolicies`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from services.extensions.manifest import (
    DEFAULT_CONTEXT,
    ExtensionError,
    Manifest,
    context_file,
    hydrated,
    read_manifest,
    variables_of,
)
from services.extensions.origins import InstallType, Origin, extension_id, read_origin
from services.extensions.values import ExtensionValues, SettingValue
from services.json_values import parse_json
from services.policy.rules import CheckerRule, Decision, PolicyRule, Tier
from services.policy.toml_files import load_policies
from services.regular_files import MOST_TEXT, read_regular
from services.settings.declaring import PlacedProblem
from services.settings.hooks import HookDefinition, read_hooks
from services.settings.variables import filled_in
from services.skills.loader import Skill, load_skills
from services.state import ApprovalMode
from services.subagents.definition import (
    AgentDefinition,
    LocalAgentDefinition,
    RemoteAgentDefinition,
)
from services.subagents.loader import LoadedAgents, load_agents
from services.wire import JsonObject

__all__ = ["HOOKS_FILE", "Extension", "Reading", "load_extension"]

logger = logging.getLogger(__name__)

HOOKS_FILE: Final = Path("hooks", "hooks.json")
_SOURCE: Final = "extensions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """An extension. Of one that is not active nothing is used."""

    manifest: Manifest
    folder: Path
    """Where its files are; for a linked one that is its author's folder."""
    origin: Origin | None = None
    """`None`: somebody has put the folder there."""
    active: bool = True
    context_files: tuple[Path, ...] = ()
    mcp_servers: Mapping[str, JsonObject] = field(default_factory=dict)
    hooks: tuple[HookDefinition, ...] = ()
    skills: tuple[Skill, ...] = ()
    agents: LoadedAgents = field(default_factory=LoadedAgents)
    rules: tuple[PolicyRule, ...] = ()
    checkers: tuple[CheckerRule, ...] = ()
    values: tuple[SettingValue, ...] = ()

    @property
    def name(self) -> str:
        """Its name, which no other extension has."""
        return self.manifest.name

    @property
    def version(self) -> str:
        """Its author's version."""
        return self.manifest.version

    @property
    def id(self) -> str:
        """A digest of where it comes from."""
        return extension_id(self.name, self.origin)

    @property
    def environment(self) -> dict[str, str]:
        """The values of its settings, as variables for its servers and hooks."""
        return {each.setting.variable: each.value for each in self.values if each.value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What loading an extension depends on."""

    workspace: Path
    values: ExtensionValues
    environment: Mapping[str, str]
    """Variables that the manifest may name."""
    trusted: bool
    """Whether the workspace's values count."""
    hooks: bool
    """Whether hooks are on."""
    configured: bool
    """Whether extensions have values."""


def load_extension(place: Path, reading: Reading) -> Extension:
    """The extension that is installed in `place`. It is active.

    What it brings and cannot be used is logged, and left out.

    Raises:
        ExtensionError: it has no manifest, or one that cannot be used.
    """
    origin = read_origin(place)
    folder = place
    if origin is not None and origin.type is InstallType.LINK:
        folder = Path(origin.source)
    manifest = read_manifest(folder, reading.workspace)
    identity = extension_id(manifest.name, origin)
    values: tuple[SettingValue, ...] = ()
    if reading.configured:
        values = reading.values.resolved(manifest, identity, trusted=reading.trusted)
    own = {each.setting.variable: each.value for each in values if each.value is not None}
    variables = {**variables_of(folder, reading.workspace), **own}
    rules, checkers = _policies(manifest.name, folder / "policies")
    return Extension(
        manifest=manifest,
        folder=folder,
        origin=origin,
        context_files=tuple(_context_files(manifest, folder)),
        mcp_servers=filled_in(dict(manifest.mcp_servers), {**reading.environment, **own}),
        hooks=_hooks(folder, variables, own) if reading.hooks else (),
        skills=tuple(_skills(manifest.name, folder, variables)),
        agents=_agents(manifest.name, folder, variables),
        rules=rules,
        checkers=checkers,
        values=values,
    )


def _context_files(manifest: Manifest, folder: Path) -> Iterable[Path]:
    for name in manifest.context_file_names or (DEFAULT_CONTEXT,):
        try:
            file = context_file(name, folder)
        except ExtensionError as problem:
            logger.warning("contextFileName %r of extension %s: %s", name, manifest.name, problem)
            continue
        if file.is_file() and file.resolve().is_relative_to(folder.resolve()):
            yield file


def _hooks(
    folder: Path, variables: Mapping[str, str], own: Mapping[str, str]
) -> tuple[HookDefinition, ...]:
    file = folder / HOOKS_FILE
    try:
        document: Any = parse_json(read_regular(file, MOST_TEXT))
        found = document["hooks"]
        if not isinstance(found, dict):
            raise PlacedProblem("", '"hooks" property must be an object')
        definitions = read_hooks(hydrated(found, variables))
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        logger.warning("the hooks of %s are left out: %s", file, error)
        return ()
    return tuple(_of_extension(each, own) for each in definitions)


def _of_extension(definition: HookDefinition, own: Mapping[str, str]) -> HookDefinition:
    hooks = (replace(hook, source=_SOURCE, env={**hook.env, **own}) for hook in definition.hooks)
    return replace(definition, hooks=tuple(hooks))


def _skills(name: str, folder: Path, variables: Mapping[str, str]) -> Iterable[Skill]:
    try:
        found = load_skills(folder / "skills")
    except OSError as error:
        logger.warning("the skills of extension %s are left out: %s", name, error)
        return
    for skill in found:
        yield replace(
            skill,
            description=str(hydrated(skill.description, variables)),
            body=str(hydrated(skill.body, variables)),
            extension=name,
        )


def _agents(name: str, folder: Path, variables: Mapping[str, str]) -> LoadedAgents:
    loaded = load_agents(folder / "agents")
    for error in loaded.errors:
        logger.warning("Error loading agent from %s: %s", name, error)
    return LoadedAgents([_hydrated_agent(each, variables) for each in loaded.agents])


def _hydrated_agent(agent: AgentDefinition, variables: Mapping[str, str]) -> AgentDefinition:
    def text(value: str | None) -> str | None:
        return None if value is None else str(hydrated(value, variables))

    agent = replace(
        agent, description=text(agent.description) or "", display_name=text(agent.display_name)
    )
    match agent:
        case LocalAgentDefinition():
            return replace(
                agent,
                prompt=replace(agent.prompt, system=text(agent.prompt.system)),
                mcp_servers=hydrated(dict(agent.mcp_servers), variables),
            )
        case RemoteAgentDefinition():
            return replace(
                agent,
                card_url=text(agent.card_url),
                card_json=text(agent.card_json),
                auth=None if agent.auth is None else hydrated(agent.auth, variables),
            )
        case _:
            return agent


def _policies(name: str, folder: Path) -> tuple[tuple[PolicyRule, ...], tuple[CheckerRule, ...]]:
    """The rules of an extension: they may ask and forbid, and neither allow nor reach YOLO mode."""
    loaded = load_policies([folder], lambda _: Tier.EXTENSION)
    for error in loaded.errors:
        logger.warning("Error loading policies from %s: %s", name, error)

    def named(source: str | None) -> str:
        return (source or "").replace("Extension: ", f"Extension ({name}): ", 1)

    rules = tuple(
        replace(rule, source=named(rule.source))
        for rule in loaded.rules
        if rule.decision is not Decision.ALLOW and ApprovalMode.YOLO not in rule.modes
    )
    checkers = tuple(
        replace(checker, source=named(checker.source))
        for checker in loaded.checkers
        if ApprovalMode.YOLO not in checker.modes
    )
    if len(rules) < len(loaded.rules) or len(checkers) < len(loaded.checkers):
        logger.warning("extension %s: rules that allow, or are for YOLO mode, are ignored", name)
    return rules, checkers
