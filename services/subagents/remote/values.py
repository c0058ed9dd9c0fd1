"""Resolves values of an `auth` block: literals, variables, or outputs of commands.

Source: core `agents/auth-provider/value-resolver.ts`.
"""

from __future__ import annotations

from dataclasses import dataclass

from services.clock import Clock
from services.environment import Environment
from services.hooks.process import Ending, run_hook_process
from services.subagents.remote.errors import RemoteAgentError
from services.wire import js_trim
from services.workspace import Workspace

__all__ = ["ValueResolver", "is_command"]


def is_command(value: str) -> bool:
    """Whether `value` is a command, whose output may change."""
    return value.startswith("!") and not value.startswith("!!")


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueResolver:
    """Resolves values. Commands run in the environment of child processes."""

    environment: Environment
    workspace: Workspace
    clock: Clock
    limit_ms: float = 60_000
    """The limit on a command's time, in real milliseconds."""

    async def resolve(self, value: str) -> str:
        """Resolve `value`.

        Raises:
            RemoteAgentError: a variable is not set, or a command failed; the message has none of
                the command's output.
        """
        if value.startswith(("$$", "!!")):
            return value[1:]
        if value.startswith("$"):
            return self._variable(value[1:])
        if value.startswith("!"):
            return await self._printed(js_trim(value[1:]))
        return value

    def _variable(self, name: str) -> str:
        found = self.environment.variables.get(name)
        if not found:
            raise RemoteAgentError(
                f"Environment variable '{name}' is not set or is empty. "
                "Please set it before using this agent."
            )
        return found

    async def _printed(self, command: str) -> str:
        if not command:
            raise RemoteAgentError("Empty command in auth value. Expected format: !command")
        with self.clock.real_work():
            try:
                outcome = await run_hook_process(
                    command,
                    given=b"",
                    folder=self.workspace.root,
                    environment=self.environment.child_variables,
                    limit_ms=self.limit_ms,
                    signal=None,
                )
            except (OSError, ValueError) as error:
                raise RemoteAgentError(f"Command '{command}' could not be started") from error
        if outcome.ending is Ending.TIMED_OUT:
            raise RemoteAgentError(
                f"Command '{command}' timed out after {self.limit_ms / 1000:g} seconds"
            )
        if outcome.exit_code != 0:
            # Upstream adds the command's error output, which may contain the secret.
            raise RemoteAgentError(f"Command failed with exit code {_code(outcome.exit_code)}")
        printed = js_trim(outcome.stdout)
        if not printed:
            raise RemoteAgentError(f"Command '{command}' returned empty output")
        return printed


def _code(exit_code: int | None) -> str:
    return "null" if exit_code is None else str(exit_code)
