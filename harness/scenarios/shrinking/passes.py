"""The domain passes in their order: the most expensive parts of a scenario go first.

Each proposes simpler documents (`descents`). The caller decides what is kept, so a pass need not
know the finding, nor what makes a valid cassette.
"""

from __future__ import annotations

from typing import Final

from harness.canonical import canonical
from harness.cassette.macros import expand
from harness.cassette.needs import function_calls
from harness.scenarios.addressing import is_main, without_steps
from harness.scenarios.shrinking.descents import (
    Descent,
    Options,
    Pass,
    dropping,
    fewer,
    lower,
    one_of,
    replacing,
)
from harness.scenarios.shrinking.plainer import (
    plainer_call,
    plainer_error,
    plainer_step,
    plainer_text,
    shorter_text,
    together,
)
from harness.scenarios.shrinking.sizes import steps_left_over
from services.wire import Json, JsonObject

__all__ = ["PASSES", "unrolled"]

_OPTIONAL: Final = ("files", "home_files", "resume", "during", "answers", "match")
_OPTIONAL_ARGS: Final = (
    "start_line",
    "end_line",
    "description",
    "include_pattern",
    "allow_multiple",
    "respect_git_ignore",
    "case_sensitive",
)
"""Arguments that a call does not need."""
_FREE_TEXTS: Final = ("content", "new_string", "old_string", "instruction", "prompt", "query")
"""Arguments that may be any text."""
_RUNNING: Final = ("run_shell_command", '"hooks"', '"projectHooks"', '"mcpServers"', "Command")
_CHUNKS: Final = "model/*/stream/*"
_PARTS: Final = f"{_CHUNKS}/candidates/*/content/parts"
_CALL: Final = f"{_PARTS}/*/functionCall"
_HOOKS: Final = "session/settings/hooks"
_WHOLE: Final = "model/*/generate/candidates/*/content/parts/*"
_SAID: Final = ("content", "finishReason")


def unrolled(document: JsonObject) -> JsonObject:
    """`document` with the items of `$times` expanded, so that each can be dropped."""
    whole: JsonObject = _unrolled(document)
    return whole


def _unrolled(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _unrolled(item) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    found: list[Json] = []
    for item in value:
        repeated = isinstance(item, dict) and "$times" in item
        found += expand([item]) if repeated else [_unrolled(item)]
    return found


def _unused_steps(document: JsonObject) -> Descent:
    """Drop unused steps: all of them, or else one by one."""
    left_over = steps_left_over(document)
    positions = [position for position, count in left_over.items() if count]

    def build(rest: Json) -> JsonObject:
        steps: list[Json] = []
        for position, step in enumerate(document["model"]):
            used = step.get("repeat", 1) - (0 if position in rest else left_over[position])
            if used:
                plain = {key: value for key, value in step.items() if key != "repeat"}
                steps.append({**plain, "repeat": used} if used > 1 else plain)
        return {**document, "model": steps}

    return fewer(positions, build, document)


def _exchanges(document: JsonObject) -> Descent:
    """Drop prompts with their answers."""
    script, model = document["script"], document["model"]
    sends = [index for index, action in enumerate(script) if "send" in action]
    answers: list[list[int]] = [[]]
    for position, step in enumerate(model):
        if step.get("role", "main") != "main" or not ("stream" in step or "text" in step):
            continue
        answers[-1].append(position)
        if not any(True for _ in function_calls([step])):
            answers.append([])

    def build(rest: Json) -> JsonObject:
        gone = [number for number in range(len(sends)) if number not in rest]
        quiet = {sends[number] for number in gone}
        gone_with = {
            step for number in gone for answer in answers[number : number + 1] for step in answer
        }
        return {
            **document,
            "script": [action for index, action in enumerate(script) if index not in quiet],
            "model": without_steps(model, gone_with),
        }

    return fewer(range(len(sends)), build, document)


def _turns_with_agents(document: JsonObject) -> Descent:
    """Drop answers with those of the agents that they call, if steps have threads."""
    model = document["model"]
    addressed = any(step.get("thread", "main") != "main" for step in model)
    positions = [index for index, step in enumerate(model) if addressed and is_main(step)]

    def build(rest: Json) -> JsonObject:
        gone = {position for position in positions if position not in rest}
        return {**document, "model": without_steps(model, gone)}

    return fewer(positions, build, document)


def _plainer_prompt(value: Json) -> Options:
    """A prompt of several parts as one word."""
    if isinstance(value, dict) and "content" in value:
        yield "ok"


def _written_texts(document: JsonObject) -> Descent:
    """Shorten texts of files, if the scenario runs no command."""
    text = canonical(document)
    if any(word in text for word in _RUNNING):
        return document
    patterns = ("files/*", "home_files/*", "script/*/write_file/text")
    for pattern in (*patterns, *(f"{_CALL}/args/{name}" for name in _FREE_TEXTS)):
        document = yield from replacing("", pattern, shorter_text).descend(document)
    return document


_UNUSED: Final = Pass("unused steps", _unused_steps)

PASSES: Final = (
    _UNUSED,
    Pass("prompts with their answers", _exchanges),
    Pass("answers with their agents", _turns_with_agents),
    dropping("actions", "script"),
    dropping("answers", "model"),
    _UNUSED,
    dropping("whole keys", "", only=_OPTIONAL),
    dropping("set-up", "session", keep=("model",)),
    dropping("settings", "session/settings"),
    dropping("parts of settings", "session/settings/*"),
    dropping("parts of parts of settings", "session/settings/*/*"),
    dropping("hook definitions", f"{_HOOKS}/*"),
    dropping("hooks", f"{_HOOKS}/*/*/hooks"),
    dropping("when hooks run", f"{_HOOKS}/*/*", only=("matcher", "sequential")),
    replacing("hook commands", f"{_HOOKS}/*/*/hooks/*/command", one_of("true")),
    dropping("rules", "session/settings/policyRules/*", keep=("decision",)),
    dropping("interruptions", "during"),
    dropping("delays of interruptions", "during/*", only=("delay_ms",)),
    replacing("shorter delays", "during/*/delay_ms", lower(1)),
    replacing("earlier interruptions", "during/*/when/events", lower(1)),
    replacing("interruptions at an earlier request", "during/*/when/request", lower(0)),
    dropping("who answers", "answers"),
    dropping("what the user answers", "answers/*"),
    dropping("delays of answers", "answers/confirmations/*", only=("delay_ms",)),
    replacing("earlier answers", "answers/confirmations/*/delay_ms", lower(1)),
    dropping("files", "files"),
    dropping("files of the home", "home_files"),
    dropping("the recording", "resume/records"),
    replacing("repetitions", "model/*/repeat", lower(1)),
    replacing("plain answers", "model/*", plainer_step),
    replacing("plain failures", "model/*/error", plainer_error),
    replacing("plain failures midway", "model/*/then_error", plainer_error),
    dropping("what failures say", "model/*/error", only=("grpc", "details", "cause")),
    dropping("details of failures", "model/*/error/details"),
    dropping("what steps have besides", "model/*", only=("then_error", "delay_ms", "repeat")),
    replacing("chunks as one", "model/*/stream", together),
    dropping("chunks", "model/*/stream", least=1),
    dropping("what chunks have besides", _CHUNKS, keep=("candidates",)),
    dropping("parts", _PARTS, least=1),
    replacing("plain parts", f"{_PARTS}/*", one_of({"text": "ok"})),
    dropping("what candidates have besides", f"{_CHUNKS}/candidates/*", keep=_SAID),
    dropping("what parts have besides", f"{_PARTS}/*", keep=("text", "functionCall")),
    dropping("ids of calls", _CALL, only=("id",)),
    replacing("plain calls", _CALL, plainer_call),
    dropping("arguments", f"{_CALL}/args", only=_OPTIONAL_ARGS),
    replacing("finish reasons", f"{_CHUNKS}/candidates/*/finishReason", one_of("STOP")),
    replacing("short prompts", "script/*/send", shorter_text),
    replacing("plain prompts", "script/*/send", _plainer_prompt),
    dropping("what is shown instead", "script/*/send", only=("display_content",)),
    dropping("parts of prompts", "script/*/send/content", least=1),
    dropping("overrides of agents", "session/settings/agents/overrides"),
    replacing("texts of prompts", "script/*/send/content/*/text", shorter_text),
    replacing("texts of answers", f"{_PARTS}/*/text", plainer_text),
    replacing("texts of short answers", "model/*/text", plainer_text),
    replacing("texts of whole answers", f"{_WHOLE}/text", plainer_text),
    replacing("messages of failures", "model/*/error/message", shorter_text),
    replacing("texts of the recording", "resume/records/*/content/*/text", shorter_text),
    replacing("lines of files", "files/*/$lines/count", lower(0)),
    replacing("repetitions in files", "files/*/$repeat/times", lower(0)),
    Pass("texts of files", _written_texts),
    replacing("the model", "session/model", one_of("gemini-2.5-flash")),
    replacing("the order", "match", one_of("in_order")),
    dropping("whose steps they are", "model/*", only=("role", "thread", "method")),
)
"""Every pass. They are repeated until none of them finds anything."""
