"""Shell commands that a user has written or allowed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from services.bundle import Services
from services.confinement import may_start
from services.tools.shell_process import ShellProcess, shell_environment

__all__ = ["run_shell"]


async def run_shell(
    line: str, services: Services, on_output: Callable[[str | int], None]
) -> ShellProcess:
    """Run `line` in the workspace's folder; return its process when it has ended.

    A cancellation ends the command before it goes on.

    Args:
        line: the command line.
        services: those of the session.
        on_output: gets each piece of text, or the number of bytes of binary output so far.

    Raises:
        ShellStartError: the command cannot be started.
    """
    may_start(line)
    with services.clock.real_work():
        process = await ShellProcess.start(
            line,
            folder=services.workspace.root,
            environment=shell_environment(services.environment.child_variables),
            on_output=on_output,
        )
        try:
            await asyncio.wait([process.closed])
        except BaseException:
            await process.kill_and_wait()
            raise
    return process
