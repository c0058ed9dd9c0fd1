"""Hooks: their choice, what they print, and what their outputs change."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, cast

from parity_tests.core_answers.subject import Subject
from services.hooks.aggregation import merge_outputs
from services.hooks.command import HookPlaces, expand_command
from services.hooks.events import HookEvent
from services.hooks.model_call import (
    AgentExecutionBlocked,
    AgentExecutionStopped,
    ModelCallHooks,
)
from services.hooks.outputs import parse_output
from services.hooks.planning import Subject as Matched
from services.hooks.planning import make_plan
from services.hooks.results import HookOutput
from services.hooks.running import next_input
from services.hooks.system import HookSystem
from services.hooks.tool_hooks import result_after_hooks, verdict_before_call
from services.hooks.translation import (
    HookModelRequest,
    changed_config,
    changed_contents,
    changed_model,
    request_for_hooks,
    response_for_hooks,
    response_from_hook,
)
from services.hooks.trust import warning_for_new_hooks
from services.hooks.values import HookOutputError
from services.settings.hooks import CommandHook, HookDefinition
from services.tools.contract import InvalidToolParams, Tool, ToolErrorType, ToolFailure, ToolResult

__all__ = ["SUBJECTS"]

_FIELDS: Final = frozenset(
    {
        "continue",
        "stopReason",
        "suppressOutput",
        "systemMessage",
        "decision",
        "reason",
        "hookSpecificOutput",
    }
)
"""Those that the core keeps of an output."""


def _or_failed(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except HookOutputError:
        return {"failed": True}


def _reads(output: HookOutput) -> Any:
    return {
        "stops": output.stops,
        "blocks": output.blocks,
        "asks": output.asks,
        "reason": output.reason,
        "context": output.additional_context,
        "clears": output.clears_context,
        "input": output.tool_input,
        "tail": output.tail_tool_call,
    }


def _merged(asked: Any) -> Any:
    event = HookEvent(asked["event"])

    def ask() -> Any:
        merged = merge_outputs(asked["outputs"], event)
        if merged is None:
            return None
        fields = {key: value for key, value in merged.items() if key in _FIELDS}
        if fields.get("hookSpecificOutput") == {}:
            del fields["hookSpecificOutput"]
        return {"fields": fields, "reads": _reads(HookOutput(event, merged))}

    return _or_failed(ask)


def _read(asked: Any) -> Any:
    return _reads(HookOutput(HookEvent(asked["event"]), asked["output"]))


def _plan(asked: Any) -> Any:
    definitions = [
        HookDefinition(
            event="BeforeTool",
            matcher=each.get("matcher"),
            sequential=each.get("sequential", False),
            hooks=tuple(CommandHook(name=name, command=line) for name, line in each["hooks"]),
        )
        for each in asked["definitions"]
    ]
    matched = Matched(tool=asked["tool"], trigger=asked["trigger"])
    made = make_plan(definitions, asked["disabled"], matched)
    return {
        "hooks": [[each.name, each.command] for each in made.hooks],
        "sequential": made.sequential,
    }


def _printed(asked: Any) -> Any:
    return parse_output(asked["stdout"], asked["stderr"], asked["code"])


def _expanded(asked: Any) -> Any:
    places = HookPlaces(cwd=asked["cwd"], plans=asked["plans"], session_id=asked["session"])
    return expand_command(asked["command"], places)


def _next_input(asked: Any) -> Any:
    event = HookEvent(asked["event"])
    return _or_failed(lambda: next_input(asked["given"], asked["output"], event))


def _request_of(asked: Any) -> HookModelRequest:
    return HookModelRequest(
        model=asked["model"], config=asked["config"], contents=asked["contents"]
    )


def _changed(asked: Any) -> Any:
    request, said = _request_of(asked["request"]), asked["said"]
    return _or_failed(
        lambda: {
            "model": changed_model(said, request),
            "config": changed_config(said, request),
            "contents": changed_contents(said, request),
        }
    )


class _BuiltFrom:
    """A tool that refuses `bad`, and builds its arguments."""

    def build(self, args: Any) -> Any:
        if args.get("bad"):
            raise InvalidToolParams(f"bad: {args['bad']}")
        return args


def _before_tool(output: Any) -> Any:
    read = None if output is None else HookOutput(HookEvent.BEFORE_TOOL, output)
    verdict = verdict_before_call(read, cast("Tool", _BuiltFrom()))
    if verdict.error is not None:
        return {"error": verdict.error.message, "type": verdict.error.type}
    return {
        "asks": verdict.asks,
        "message": verdict.system_message,
        "args": verdict.args,
        "built": verdict.invocation,
    }


def _after_tool(asked: Any) -> Any:
    given, output = asked["result"], asked["output"]
    failed = given.get("error")
    result = ToolResult(
        llm_content=given["llmContent"],
        return_display=given["returnDisplay"],
        error=failed and ToolFailure(message=failed["message"], type=ToolErrorType(failed["type"])),
    )
    read = None if output is None else HookOutput(HookEvent.AFTER_TOOL, output)
    done = result_after_hooks(result, read)
    error = done.error and {"message": done.error.message, "type": done.error.type}
    return {
        "llmContent": done.llm_content,
        "returnDisplay": done.return_display,
        **({"error": error} if error else {}),
    }


class _AfterModel:
    """Hooks that have said `output`."""

    def __init__(self, output: Any) -> None:
        self._output = output

    async def after_model(self, request: HookModelRequest, chunk: Any) -> HookOutput | None:
        said = self._output
        return None if said is None else HookOutput(HookEvent.AFTER_MODEL, said)


def _after_model(asked: Any) -> Any:
    hooks = ModelCallHooks(cast("HookSystem", _AfterModel(asked["output"])))
    request = HookModelRequest(model="m", config={}, contents=[])
    try:
        return {"response": asyncio.run(hooks.after_chunk(request, asked["chunk"]))}
    except AgentExecutionStopped as verdict:
        return {"stopped": verdict.reason}
    except AgentExecutionBlocked as verdict:
        return {"blocked": verdict.reason, "response": verdict.response}


def _trusted(asked: Any) -> Any:
    answers: list[Any] = []
    with tempfile.TemporaryDirectory(prefix="parity-hooks-") as home:
        file = Path(home) / ".gemini" / "trusted_hooks.json"
        if asked["known"] is not None:
            file.parent.mkdir()
            file.write_text(asked["known"], "utf-8")
        for project, listed in asked["rounds"]:
            definitions = [
                HookDefinition(
                    event="BeforeTool",
                    hooks=tuple(CommandHook(name=name, command=line) for name, line in each),
                )
                for each in listed
            ]
            warning = warning_for_new_hooks(definitions, home=Path(home), project=Path(project))
            names = [line[4:] for line in (warning or "").splitlines() if line.startswith("  - ")]
            answers.append([names, file.read_text("utf-8") if file.exists() else None])
    return answers


SUBJECTS: Final = (
    Subject("hooks.merged", _merged),
    Subject("hooks.merged_fields", _merged),
    Subject("hooks.read", _read),
    Subject("hooks.plan", _plan),
    Subject("hooks.printed", _printed),
    Subject("hooks.expanded", _expanded),
    Subject("hooks.next_input", _next_input),
    Subject("hooks.request", lambda asked: request_for_hooks(_request_of(asked))),
    Subject("hooks.response", response_for_hooks),
    Subject("hooks.changed", _changed),
    Subject("hooks.answered", lambda said: _or_failed(lambda: response_from_hook(said))),
    Subject("hooks.before_tool", _before_tool),
    Subject("hooks.after_tool", _after_tool),
    Subject("hooks.trusted", _trusted),
    Subject("hooks.after_model", _after_model),
)
