"""`parity agent extensions`: the extensions of the agent."""

from __future__ import annotations

import sys
from collections.abc import Callable

from harness.output import stopping_at_broken_output
from services.extensions.manifest import ExtensionError
from services.model.errors import FatalConfigError
from surfaces.headless.extension_program import ExtensionProgram
from surfaces.headless.machine import Machine
from surfaces.headless.streams import OutputClosed, Streams

__all__ = [
    "configure",
    "disable",
    "enable",
    "install",
    "link",
    "list_installed",
    "new",
    "uninstall",
    "update",
    "validate",
]


def _run(work: Callable[[ExtensionProgram], object]) -> int:
    """Run `work`; return the exit code: 1 where it says `False`, or fails."""
    streams = Streams(sys.stdout, sys.stderr)
    with stopping_at_broken_output():
        try:
            done = work(ExtensionProgram(Machine.here(), sys.stdin, streams))
        except FatalConfigError as error:
            streams.report(str(error))
            return error.exit_code
        except (ExtensionError, OSError, ValueError) as error:
            streams.report(str(error))
            return 1
        except OutputClosed:
            return 0
    return 1 if done is False else 0


def install(
    source: str,
    ref: str | None,
    auto_update: bool,
    pre_release: bool,
    consent: bool,
    skip_settings: bool,
) -> int:
    """Run `parity agent extensions install`."""
    return _run(
        lambda program: program.install(
            source,
            ref=ref,
            auto_update=auto_update,
            pre_release=pre_release,
            consent=consent,
            skip_settings=skip_settings,
        )
    )


def link(path: str, consent: bool) -> int:
    """Run `parity agent extensions link`."""
    return _run(lambda program: program.link(path, consent=consent))


def uninstall(names: tuple[str, ...], every: bool) -> int:
    """Run `parity agent extensions uninstall`."""
    return _run(lambda program: program.uninstall(names, every=every))


def update(name: str | None, every: bool) -> int:
    """Run `parity agent extensions update`."""
    return _run(lambda program: program.update(None if every else name))


def list_installed(output: str) -> int:
    """Run `parity agent extensions list`."""
    return _run(lambda program: program.list(as_json=output == "json"))


def enable(name: str, scope: str | None) -> int:
    """Run `parity agent extensions enable`."""
    return _run(lambda program: program.set_enabled(name, scope, on=True))


def disable(name: str, scope: str | None) -> int:
    """Run `parity agent extensions disable`."""
    return _run(lambda program: program.set_enabled(name, scope, on=False))


def new(path: str) -> int:
    """Run `parity agent extensions new`."""
    return _run(lambda program: program.new(path))


def validate(path: str) -> int:
    """Run `parity agent extensions validate`."""
    return _run(lambda program: program.validate(path))


def configure(name: str | None, setting: str | None, scope: str) -> int:
    """Run `parity agent extensions config`."""
    return _run(lambda program: program.configure(name, setting, scope))
