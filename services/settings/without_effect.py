"""Settings of the published core that this build accepts and does not use, and why not.

A session with one of them begins, and its surface shows the sentences of `without_effect`. What a
user would rely on, such as a sandbox, is refused instead: see `Refused` in `declaring`.

Source: core `config/config.ts`, `ConfigParameters`; `packages/cli` `config/settingsSchema.ts`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from services.settings.declaring import look_up
from services.wire import Json

__all__ = ["WITHOUT_EFFECT", "WithoutEffect", "without_effect"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WithoutEffect:
    """A setting that changes nothing."""

    name: str | None
    """The core's configuration parameter; `None` for what a surface reads from the file."""
    key: str | None
    """The key in the user's settings file; `None` for what only programs set."""
    type: Any
    """As for a parameter: `bool`, `str`, `Mapping`, …"""
    why: str
    """Why it has no effect, after a colon."""
    same: tuple[Json, ...] = ()
    """Values that ask for what happens in any case."""


def _entries(
    why: str, *entries: tuple[str | None, str | None, Any], same: tuple[Json, ...] = ()
) -> Iterator[WithoutEffect]:
    for name, key, type_ in entries:
        yield WithoutEffect(name=name, key=key, type=type_, why=why, same=same)


_TEXTS: Final = tuple[str, ...]

WITHOUT_EFFECT: Final = (
    *_entries(
        "this build has no local classifier",
        ("gemmaModelRouter.autoStartServer", "experimental.gemmaModelRouter.autoStartServer", bool),
        ("gemmaModelRouter.binaryPath", "experimental.gemmaModelRouter.binaryPath", str),
        ("gemmaModelRouter.classifier", "experimental.gemmaModelRouter.classifier", Mapping),
    ),
    *_entries(
        "this build does not have the core's own management of a long history",
        ("contextManagement.historyWindow", None, Mapping),
        ("contextManagement.messageLimits", None, Mapping),
        (None, "experimental.generalistProfile", bool),
        (None, "experimental.powerUserProfile", bool),
        (None, "experimental.stressTestProfile", bool),
        same=(False,),
    ),
    *_entries(
        "the published command line does not pass it on to the core, either; only "
        "`experimental.contextManagement` switches context management on",
        (None, "contextManagement", Mapping),
    ),
    *_entries(
        "the published core has no such parameter, either",
        ("autoDistillation", None, bool),
        ("contextManagement.tools.outputMasking.enabled", None, bool),
        ("experimentalAgentHistoryRetainedMessages", None, int),
        ("experimentalAgentHistorySummarization", None, bool),
        ("experimentalAgentHistoryTruncation", None, bool),
        ("experimentalAgentHistoryTruncationThreshold", None, int),
        ("shellInactivityTimeout", None, float),
    ),
    *_entries(
        "the published core stores it and does not use it, either",
        ("allowedTools", None, _TEXTS),
        ("discoveryMaxDirs", "context.discoveryMaxDirs", int),
        ("enableEventDrivenScheduler", None, bool),
        ("extensionsEnabled", None, bool),
        ("mcpEnabled", None, bool),
        same=(True,),
    ),
    *_entries(
        "the search of this build finds the same with and without ripgrep",
        ("useRipgrep", "tools.useRipgrep", bool),
        same=(True, False),
    ),
    *_entries(
        "it changes the log of the published core only",
        ("debugMode", None, bool),
        same=(False,),
    ),
    *_entries(
        "commands run without a terminal",
        ("enableInteractiveShell", "tools.shell.enableInteractiveShell", bool),
        ("shellExecutionConfig", None, Mapping),
        (None, "tools.shell.pager", str),
        (None, "tools.shell.showColor", bool),
        same=(False, "cat"),
    ),
    *_entries(
        "the texts for the model are this build's own",
        ("enableShellOutputEfficiency", "tools.shell.enableShellOutputEfficiency", bool),
        same=(True,),
    ),
    *_entries(
        "this build extracts no memories from sessions",
        ("experimentalAutoMemory", "experimental.autoMemory", bool),
        same=(False,),
    ),
    *_entries(
        "this build does not embed texts",
        ("embeddingModel", None, str),
    ),
    *_entries(
        "this build finds tools by MCP servers only, not by a command",
        ("toolDiscoveryCommand", "tools.discoveryCommand", str),
        ("toolCallCommand", "tools.callCommand", str),
    ),
    *_entries(
        "long outputs are truncated, or distilled with context management",
        ("summarizeToolOutput", "model.summarizeToolOutput", Mapping),
    ),
    *_entries(
        "memory comes from the files called GEMINI.md, up to the folder with `.git`",
        ("userMemory", None, str),
        ("memoryBoundaryMarkers", "context.memoryBoundaryMarkers", _TEXTS),
        (None, "context.fileName", object),
        (None, "context.importFormat", str),
        same=("GEMINI.md", "tree"),
    ),
    *_entries(
        "the files of added folders always count",
        (None, "context.loadMemoryFromIncludeDirectories", bool),
        same=(True,),
    ),
    *_entries(
        "a surface adds folders, from `context.includeDirectories` or its command line",
        ("includeDirectories", None, _TEXTS),
    ),
    *_entries(
        "this build spends no AI credits",
        ("billing", "billing", Mapping),
    ),
    *_entries(
        "this build asks no server for experiments",
        ("experiments", None, Mapping),
    ),
    *_entries(
        "only `respectGitIgnore` and `respectGeminiIgnore` change what tools find here",
        (
            "fileFiltering.customIgnoreFilePaths",
            "context.fileFiltering.customIgnoreFilePaths",
            _TEXTS,
        ),
        ("fileFiltering.enableFileWatcher", "context.fileFiltering.enableFileWatcher", bool),
        ("fileFiltering.enableFuzzySearch", "context.fileFiltering.enableFuzzySearch", bool),
        (
            "fileFiltering.enableRecursiveFileSearch",
            "context.fileFiltering.enableRecursiveFileSearch",
            bool,
        ),
        ("fileFiltering.maxFileCount", "context.fileFiltering.maxFileCount", int),
        ("fileFiltering.searchTimeout", "context.fileFiltering.searchTimeout", int),
    ),
    *_entries(
        "the format of the output is the surface's",
        ("output", None, Mapping),
    ),
    *_entries(
        "rules come from `policyRules`, `policySettings` and policy files",
        ("policyEngineConfig", None, Mapping),
    ),
    *_entries(
        "this build has no agent for a browser",
        (None, "agents.browser", Mapping),
    ),
    *_entries(
        "only `/extensions disable` switches an extension off",
        (None, "extensions", Mapping),
    ),
    *_entries(
        "a change of an extension always counts at once",
        (None, "experimental.extensionReloading", bool),
        same=(True,),
    ),
    *_entries(
        "extensions are always managed by commands, and the gallery is the vendor's",
        ("extensionManagement", "experimental.extensionManagement", bool),
        (None, "experimental.extensionRegistry", bool),
        (None, "experimental.extensionRegistryURI", str),
        same=(True,),
    ),
    *_entries(
        "its name is `general.topicUpdateNarration`",
        (None, "experimental.topicUpdateNarration", bool),
    ),
    *_entries(
        "this build does not delete old sessions",
        (None, "general.sessionRetention", Mapping),
    ),
)


def without_effect(values: Mapping[str, Any], *, of_file: bool) -> tuple[str, ...]:
    """A sentence for each setting among `values` that has no effect.

    Args:
        values: the core's parameters, or a user's settings file, parsed.
        of_file: whether it is a file.
    """
    sentences = []
    for entry in WITHOUT_EFFECT:
        path = entry.key if of_file else entry.name
        found, value = (False, None) if path is None else look_up(values, path)
        # In Python 1 and True are equal.
        given = (type(value), value)
        if found and value is not None and given not in [(type(each), each) for each in entry.same]:
            sentences.append(f"The setting {path} has no effect: {entry.why}.")
    return tuple(sentences)
