"""`program_beside_model`: a program that runs as long as a conversation, with a model server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from adapters.model.seam import ModelSeam
from adapters.model.server import open_model_server
from adapters.outside.held import Held
from adapters.outside.program import Program, start_program
from services.bundle import Services

__all__ = ["program_beside_model"]


@asynccontextmanager
async def program_beside_model(
    command: Sequence[str], services: Services
) -> AsyncIterator[tuple[Program, Held]]:
    """Start a program in the session's folder; leaving stops it.

    Args:
        command: The program and its arguments.
        services: The session, whose model the program finds behind an HTTP server.

    Raises:
        AgentBroke: it cannot be started.
    """
    held, seam = Held(services.clock), ModelSeam(services.content_generator)
    async with open_model_server(seam, held) as server:
        with held.message():
            program = await start_program(command, services.workspace.root, server.variables)
        try:
            yield program, held
        finally:
            with held.message():
                await program.stop()
            await seam.close()
