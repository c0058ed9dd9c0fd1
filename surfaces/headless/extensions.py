"""The installed extensions on the command line, without a session."""

from __future__ import annotations

from services.extensions.store import ExtensionStore
from services.state import CoreEvent, CoreEvents, UserFeedback
from surfaces.headless.machine import Machine
from surfaces.headless.options import HeadlessOptions
from surfaces.headless.planning import plan_run
from surfaces.headless.streams import Streams

__all__ = ["list_extensions", "open_store"]


def open_store(options: HeadlessOptions, machine: Machine, streams: Streams) -> ExtensionStore:
    """The installed extensions, as a session with these options would use them.

    Raises:
        FatalConfigError: the settings cannot be used.
    """
    workspace, variables = machine.workspace, machine.environment.variables
    plan = plan_run(options, root=workspace.root, home=workspace.home, variables=variables)
    events = CoreEvents()

    def report(event: CoreEvent) -> None:
        if isinstance(event, UserFeedback):
            streams.report(event.message)

    events.subscribe(report)
    store = ExtensionStore(
        workspace,
        plan.settings,
        machine.environment,
        machine.clock,
        events,
        only=plan.only_extensions,
    )
    store.load()
    return store


def list_extensions(options: HeadlessOptions, machine: Machine, streams: Streams) -> None:
    """Write the names of the installed extensions. Source: `packages/cli` `gemini.tsx`.

    Raises:
        FatalConfigError: the settings cannot be used.
        OutputClosed: the reader of the output has left.
    """
    store = open_store(options, machine, streams)
    names = "".join(f"- {each.name}\n" for each in store.extensions)
    streams.write(f"Installed extensions:\n{names}")
