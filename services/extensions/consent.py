"""The texts that a user agrees to before an extension or a skill comes into use.

Source: `packages/cli` `config/extensions/consent.ts`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from services.extensions.manifest import Manifest
from services.skills.loader import Skill
from services.wire import js_json

__all__ = ["INSTALL_WARNING", "extension_consent", "skills_consent"]

INSTALL_WARNING: Final = (
    "The extension you are about to install may have been created by a third-party developer and "
    "sourced from a public repository. Google does not vet, endorse, or guarantee the "
    "functionality or security of extensions. Please carefully inspect any extension and its "
    "source code before installing to understand the permissions it requires and the actions it "
    "may perform."
)
_SKILLS_WARNING: Final = (
    "Agent skills inject specialized instructions and domain-specific knowledge into the agent's "
    "system prompt. This can change how the agent interprets your requests and interacts with your "
    "environment. Review the skill definitions at the location(s) provided below to ensure they "
    "meet your security standards."
)
_HOOKS_WARNING: Final = (
    "\u26a0\ufe0f  This extension contains Hooks which can automatically execute commands."
)
_HIDDEN: Final = "********"
_SECRET_VARIABLE: Final = re.compile(
    r"token|secret|password|passwd|key|auth|credential|creds|private|cert", re.IGNORECASE
)
_SECRET_HEADER: Final = re.compile(r"authorization|key|cookie|token|secret", re.IGNORECASE)
_SECRET_OAUTH: Final = re.compile(r"secret|token|password", re.IGNORECASE)
_FACTS: Final = (
    ("url", "URL"),
    ("tcp", "TCP"),
    ("type", "Type"),
    ("timeout", "Timeout"),
    ("trust", "Trust"),
    ("description", "Description"),
    ("includeTools", "Include tools"),
    ("excludeTools", "Exclude tools"),
    ("authProviderType", "Auth Provider Type"),
    ("targetAudience", "Target Audience"),
    ("targetServiceAccount", "Target Service Account"),
)


def skills_consent(skills: Sequence[Skill], source: str, target: Path) -> str:
    """The text about the skills of `source` that are to be linked into `target`."""
    return "\n".join(
        [
            f'Linking agent skill(s) from "{source}".',
            "\nThe following agent skill(s) will be linking:\n",
            *_listed(skills),
            f"Link Destination: {target}",
            f"\n{_SKILLS_WARNING}",
        ]
    )


def extension_consent(
    manifest: Manifest,
    *,
    hooks: bool,
    skills: Sequence[Skill] = (),
    previous: str | None = None,
    migrates: bool = False,
) -> str:
    """The text about what an extension brings.

    Args:
        manifest: the extension's.
        hooks: whether it has hooks.
        skills: its skills.
        previous: the name of the installed extension that it replaces.
        migrates: whether it comes from another place than the installed one.
    """
    lines = [_doing(manifest.name, previous, migrates=migrates)]
    if manifest.mcp_servers:
        lines.append("This extension will run the following MCP servers:")
        for name, server in manifest.mcp_servers.items():
            lines += _server(name, server)
    if manifest.context_file_names:
        names = ",".join(manifest.context_file_names)
        lines.append(f"This extension will append info to your gemini.md context using {names}")
    if manifest.exclude_tools:
        names = ",".join(manifest.exclude_tools)
        lines.append(f"This extension will exclude the following core tools: {names}")
    lines += [_HOOKS_WARNING] if hooks else []
    if skills:
        lines.append("\nAgent Skills:")
        lines.append("\nThis extension will install the following agent skills:\n")
        lines += _listed(skills)
    lines.append(f"\n{INSTALL_WARNING}")
    lines += [f"\n{_SKILLS_WARNING}"] if skills else []
    return "\n".join(lines)


def _doing(name: str, previous: str | None, *, migrates: bool) -> str:
    renamed = previous is not None and previous != name
    if migrates:
        if renamed:
            return (
                f'Migrating extension "{previous}" to a new repository, renaming to "{name}", and '
                "installing updates."
            )
        return f'Migrating extension "{name}" to a new repository and installing updates.'
    if renamed:
        return f'Renaming extension "{previous}" to "{name}" and installing updates.'
    return f'Installing extension "{name}".'


def _server(name: str, server: Mapping[str, Any]) -> Iterable[str]:
    command = " ".join([str(server.get("command") or ""), *map(str, server.get("args") or ())])
    where = server.get("httpUrl") or command
    yield f"  * {name} ({'local' if server.get('command') else 'remote'}): {where}"
    if server.get("cwd"):
        yield f"    Working directory: {server['cwd']}"
    yield from _pairs("Environment variables", server.get("env"), _SECRET_VARIABLE)
    yield from _pairs("Headers", server.get("headers"), _SECRET_HEADER)
    for key, title in _FACTS:
        value = server.get(key)
        if value not in (None, "", []):
            yield f"    {title}: {_shown(value)}"
    yield from _pairs("OAuth Configuration", server.get("oauth"), _SECRET_OAUTH)
    yield f"    Config signature: {_signature(server)}"


def _pairs(title: str, values: Any, secret: re.Pattern[str]) -> Iterable[str]:
    if not isinstance(values, Mapping) or not values:
        return
    yield f"    {title}:"
    for key in sorted(map(str, values), key=str.lower):
        value = _shown(values.get(key, ""))
        yield f"      - {key}: {_HIDDEN if value and secret.search(key) else value}"


def _shown(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_shown, value))
    return value if isinstance(value, str) else js_json(value)


def _signature(server: Mapping[str, Any]) -> str:
    """A digest of the server's configuration, so that any change of it asks again."""
    text = json.dumps(server, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _listed(skills: Iterable[Skill]) -> Iterable[str]:
    for skill in skills:
        try:
            count = f" ({sum(1 for _ in skill.folder.iterdir())} items in directory)"
        except OSError:
            count = " \u26a0\ufe0f (Could not count items in directory)"
        yield f"  * {skill.name}: {skill.description}"
        yield f"    (Source: {skill.location}){count}"
        yield ""
