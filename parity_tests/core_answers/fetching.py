"""`web_fetch` in front of a scripted model and a scripted network."""

from __future__ import annotations

import asyncio
import base64
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from parity_tests.core_answers.brief import brief
from parity_tests.core_answers.subject import Subject
from services.abort import AbortController, AbortSignal
from services.clock import VIRTUAL_EPOCH_MS, VirtualClock, virtual_loop
from services.environment import Environment
from services.ids import CountingProcessIds, FixedRandom
from services.model.errors import ModelError, NetworkError
from services.settings import Settings
from services.state import ApprovalMode, CoreEvent, CoreEvents, RetryAttempt, SessionState
from services.tools.contract import ConfirmationOutcome, InvalidToolParams, ToolExecution
from services.tools.host import ToolHost
from services.tools.web_access import Page, WebAccess
from services.tools.web_fetch import WebFetchTool
from services.tracker import Tracker
from services.wire import JsonObject
from services.workspace import Workspace

__all__ = ["SUBJECTS"]


def _body(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if "base64" in value:
        return base64.b64decode(value["base64"])
    text: str = value["repeat"] * value["times"] + value.get("end", "")
    return text.encode()


class _Web:
    """Answers a model's questions and requests for pages, and notes them."""

    def __init__(self, asked: JsonObject) -> None:
        self._answers: list[Any] = list(asked.get("answers", ()))
        self._pages: dict[str, list[Any]] = {
            url: list(pages) for url, pages in asked.get("pages", {}).items()
        }
        self._names: JsonObject = asked.get("names", {})
        self.seen: list[str] = []

    async def generate_content(self, config_key: str, text: str, signal: AbortSignal) -> Any:
        self.seen.append(f"{config_key}\n{text}")
        answer = self._answers.pop(0)
        if isinstance(answer, str):
            raise ModelError(answer)
        return answer

    async def addresses(self, host: str) -> list[str]:
        if host not in self._names:
            raise OSError("no such name")
        found: list[str] = self._names[host]
        return found

    async def get(self, url: str, headers: Mapping[str, str], signal: AbortSignal) -> Page:
        self.seen.append("\n".join([url, *(f"{key}: {headers[key]}" for key in headers)]))
        pages = self._pages.get(url, ["no such page"])
        page = pages.pop(0) if len(pages) > 1 else pages[0]
        if isinstance(page, str):
            raise NetworkError(page, name="FetchError")
        return Page(
            status=page.get("status", 200),
            reason=page.get("reason", ""),
            headers=page.get("headers", {}),
            body=_body(page["body"]),
        )


def _retries_noted(events: CoreEvents) -> list[Any]:
    retries: list[Any] = []

    def note(event: CoreEvent) -> None:
        assert isinstance(event, RetryAttempt)
        retries.append([event.attempt, event.max_attempts, event.error, event.model])

    events.subscribe(note)
    return retries


async def _play(tool: WebFetchTool, params: JsonObject) -> JsonObject:
    try:
        call = tool.build(params)
    except InvalidToolParams as fault:
        return {"fault": str(fault)}
    asked = call.confirmation_details()
    assert asked is not None
    result = await call.execute(ToolExecution(call_id="call", signal=AbortController().signal))
    error = result.error
    return {
        "rule": call.policy_update(ConfirmationOutcome.PROCEED_ALWAYS),
        "asked": "\n".join(
            [
                call.description(),
                asked.type,
                asked.title,
                asked.fields["prompt"],
                *asked.fields["urls"],
            ]
        ),
        "llm": None if error else result.llm_content,
        "shown": result.return_display,
        "error": [error.type, error.message] if error else None,
    }


async def _session(asked: JsonObject, clock: VirtualClock) -> Any:
    state = SessionState(
        session_id="session",
        model="gemini-2.5-pro",
        approval_mode=ApprovalMode.DEFAULT,
        interactive=False,
        events=CoreEvents(),
    )
    settings = Settings(
        direct_web_fetch=asked.get("direct", False),
        context_management=asked.get("whole", False),
        retry_fetch_errors=asked.get("retry", False),
    )
    web = _Web(asked)
    events = CoreEvents()
    retries = _retries_noted(events)
    workspace = Workspace.at(Path("/nowhere/ws"), Path("/nowhere/home"))
    unused: Any = None
    host = ToolHost(
        tracker=Tracker(unused),
        web=WebAccess(
            model=web,
            pages=web,
            clock=clock,
            rng=FixedRandom(),
            events=events,
            settings=settings,
        ),
        workspace=workspace,
        clock=clock,
        settings=settings,
        state=state,
        environment=Environment.for_replay(home=str(workspace.home), path=os.environ["PATH"]),
        process_ids=CountingProcessIds(),
    )
    tool = WebFetchTool(host)
    answers: list[JsonObject] = []
    for wait, params in asked["calls"]:
        if wait:
            await clock.sleep(wait)
        answers.append(await _play(tool, params))
    await host.close()
    return {"answers": answers, "seen": web.seen, "retries": retries}


def _fetched(asked: JsonObject) -> Any:
    clock = VirtualClock(VIRTUAL_EPOCH_MS)
    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        answer = runner.run(_session(asked, clock))
    return brief(json.loads(json.dumps(answer)))


SUBJECTS: Final = (Subject("fetching.fetched", _fetched),)
