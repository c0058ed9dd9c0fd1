"""The installed extensions on the command line, without a session."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from services.extensions.store import ExtensionStore
from services.folder_trust import TrustedFolders
from services.state import CoreEvent, CoreEvents, UserFeedback
from surfaces.headless.machine import Machine
from surfaces.headless.options import HeadlessOptions
from surfaces.headless.planning import Plan, plan_run
from surfaces.headless.streams import Streams

__all__ = ["extension_plan", "list_extensions", "open_store", "trusts_folder"]


def extension_plan(machine: Machine, options: HeadlessOptions | None = None) -> Plan:
    """What a session in this folder would be.

    Raises:
        FatalConfigError: the settings cannot be used.
    """
    workspace, variables = machine.workspace, machine.environment.variables
    asked = options or HeadlessOptions()
    return plan_run(asked, root=workspace.root, home=workspace.home, variables=variables)


def open_store(
    machine: Machine, streams: Streams, options: HeadlessOptions | None = None
) -> ExtensionStore:
    """The installed extensions, as a session with these options would use them.

    Raises:
        FatalConfigError: the settings cannot be used.
    """
    workspace = machine.workspace
    plan = extension_plan(machine, options)
    events = CoreEvents()

    def report(event: CoreEvent) -> None:
        if isinstance(event, UserFeedback):
            streams.report(event.message)

    events.subscribe(report)
    trusted = plan.folder_trusted or trusts_folder(machine, workspace.root)
    store = ExtensionStore(
        workspace,
        replace(plan.settings, folder_trusted=trusted),
        machine.environment,
        machine.clock,
        events,
        only=plan.only_extensions,
    )
    store.load()
    return store


def trusts_folder(machine: Machine, folder: Path) -> bool:
    """Whether the user has said to trust a folder."""
    folders = TrustedFolders(machine.workspace.home)
    try:
        folders.load()
    except ValueError:
        return False
    return folders.trusts(folder) is True


def list_extensions(options: HeadlessOptions, machine: Machine, streams: Streams) -> None:
    """Write the names of the installed extensions. Source: `packages/cli` `gemini.tsx`.

    Raises:
        FatalConfigError: the settings cannot be used.
        OutputClosed: the reader of the output has left.
    """
    store = open_store(machine, streams, options)
    names = "".join(f"- {each.name}\n" for each in store.extensions)
    streams.write(f"Installed extensions:\n{names}")
