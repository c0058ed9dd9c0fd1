"""`python -m benchmarks.terminal_session terminal|headless TURNS`: prints the resident size."""

from __future__ import annotations

import asyncio
import gc
import io
import json
import os
import sys
import tempfile
from functools import partial
from pathlib import Path

from agent_protocol.agent import MessageSend
from agent_protocol.content import TextPart
from agent_protocol.events import AgentEnd, AgentEvent
from services.interaction.interaction import Interaction
from services.state import CoreEvents
from surfaces.headless.machine import Machine
from surfaces.headless.options import HeadlessOptions
from surfaces.headless.streams import Streams
from surfaces.terminal.app import TerminalApp
from surfaces.terminal.live import open_live_session
from surfaces.terminal.prepared import Prepared, prepare

_ANSWER = "An answer of some length, in **Markdown**, as they usually are.\n\n- one\n- two\n"


def main() -> None:
    """Hold a session of so many turns, and print the resident size of this process in bytes."""
    side, turns = sys.argv[1], int(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        workspace, home = Path(folder, "ws"), Path(folder, "home")
        workspace.mkdir()
        home.mkdir()
        os.chdir(workspace)
        os.environ.update(
            GEMINI_API_KEY="none", GEMINI_CLI_HOME=str(home), GEMINI_CLI_TRUST_WORKSPACE="true"
        )
        answers = Path(folder, "answers.jsonl")
        answers.write_text(f"{_line()}\n" * turns, "utf-8")
        options = HeadlessOptions(
            model="gemini-2.5-flash", runtime="legacy", fake_responses=answers
        )
        prepared = prepare(options, Machine.here(), Streams(io.StringIO(), io.StringIO()))
        asyncio.run((_on_a_screen if side == "terminal" else _without)(prepared, turns))
        os.chdir("/")


def _line() -> str:
    candidate = {
        "content": {"role": "model", "parts": [{"text": _ANSWER}]},
        "index": 0,
        "finishReason": "STOP",
    }
    return json.dumps(
        {"method": "generateContentStream", "response": [{"candidates": [candidate]}]}
    )


async def _on_a_screen(prepared: Prepared, turns: int) -> None:
    app = TerminalApp(prepared)
    async with app.run_test(size=(120, 50)):
        while not app.opened:
            if app.failure is not None:
                raise app.failure
            await asyncio.sleep(0.01)
        view = app.view
        assert view is not None
        for number in range(turns):
            view.turns.submit(f"prompt {number}")
            while app.working:  # noqa: ASYNC110 - the screen has no event for it
                await asyncio.sleep(0.001)
        _print_size()


async def _without(prepared: Prepared, turns: int) -> None:
    events = CoreEvents()
    async with open_live_session(prepared, Interaction(), events, lambda _: None) as session:
        for number in range(turns):
            send = MessageSend(content=(TextPart(text=f"prompt {number}"),))
            agent = session.agent(number)
            ended = asyncio.Event()
            agent.subscribe(partial(_look, ended))
            await agent.send(send)
            await ended.wait()
            await session.runtime.settled()
        _print_size()


def _look(ended: asyncio.Event, event: AgentEvent) -> None:
    if isinstance(event, AgentEnd):
        ended.set()


def _print_size() -> None:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    print(pages * os.sysconf("SC_PAGE_SIZE"), flush=True)


if __name__ == "__main__":
    main()
