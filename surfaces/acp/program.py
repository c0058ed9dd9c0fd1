"""`run_acp`: an editor drives the agent, from the command line to an exit code.

Source: `packages/cli` `acp/acpStdioTransport.ts`.
"""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import BinaryIO, Final, TextIO

from services.model.errors import FatalError, FatalInputError
from surfaces.headless.options import HeadlessOptions
from surfaces.headless.streams import Streams

__all__ = ["run_acp"]

_MISSING: Final = (
    "Error: --acp needs the package agent-client-protocol, which is not installed; install it with "
    "`pip install 'parity[acp]'`"
)


def run_acp(options: HeadlessOptions, *, stdin: TextIO, err: TextIO) -> int:
    """Serve the client on standard input and output; returns the exit code.

    0 the client has closed the input, or the process was asked to end; 42 the package is missing,
    or standard output is no pipe.
    """
    streams = Streams(err, err)
    try:
        if find_spec("acp") is None:
            raise FatalInputError(_MISSING)
        _import_schema()
        from surfaces.acp.wire import claimed_output

        with claimed_output() as output:
            asyncio.run(_serve(options, stdin.buffer, output, streams))
    except FatalError as error:
        streams.report(str(error))
        return error.exit_code
    except (KeyboardInterrupt, asyncio.CancelledError):
        return 0
    return 0


def _import_schema() -> None:
    """Import the package's schema, a third of the time until `initialize` is answered.

    It declares 250 models. Pydantic builds the validator of each when the model is first used.
    """
    from pydantic import BaseModel, ConfigDict

    usual = BaseModel.model_config
    BaseModel.model_config = ConfigDict(defer_build=True)
    try:
        import_module("acp.schema")
    finally:
        BaseModel.model_config = usual


async def _serve(
    options: HeadlessOptions, source: BinaryIO, output: BinaryIO, streams: Streams
) -> None:
    from surfaces.acp.agent import AcpAgent
    from surfaces.acp.wire import CheckedLines, feed_lines, serve

    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, task.cancel)
    try:
        transport, protocol = await loop.connect_write_pipe(
            asyncio.streams.FlowControlMixin, output
        )
    except ValueError as error:
        raise FatalInputError(
            "Error: --acp writes its messages to a pipe, and standard output is none; start it "
            "from an editor"
        ) from error
    writer = asyncio.StreamWriter(transport, protocol, None, loop)
    lines = CheckedLines(writer.write)
    feed_lines(source, lines)
    make = partial(AcpAgent, options, version=_version(), warn=streams.report)
    await serve(make, lines, writer)


def _version() -> str:
    try:
        return version("parity")
    except PackageNotFoundError:
        return "unknown"
