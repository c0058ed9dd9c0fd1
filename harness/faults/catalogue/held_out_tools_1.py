"""Faults of the registry, the scheduler and the checks of arguments, written after the corpus."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final

from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced
from services.scheduler.calls import CallStatus
from services.tools.contract import InvalidToolParams

__all__ = ["FAULTS"]

_tools = partial(Fault, site=Site.SERVICE, behaviour=Behaviour.TOOLS, held_out=True)


def _up_to_the_first_failure(next_wave: Any) -> Any:
    def broken(self: Any) -> Any:
        goes_on = next_wave(self)
        if not goes_on:
            self._store.cancel_queued("Operation cancelled")
        return goes_on

    return broken


def _shown_as_told(returned: Any) -> Any:
    async def broken(self: Any, call: Any, result: Any, signal: Any) -> Any:
        ending = await returned(self, call, result, signal)
        if ending.status is not CallStatus.ERROR:
            return ending
        told = replace(ending.response, result_display=ending.response.error, display=None)
        return replace(ending, response=told)

    return broken


def _in_code_points(_: Any) -> Any:
    return lambda text: len(text)


def _run_together(convert: Any) -> Any:
    def broken(name: str, call_id: str, content: Any, model: str) -> Any:
        if isinstance(content, list):
            parts = [{"text": part} if isinstance(part, str) else part for part in content]
            texts = [part["text"] for part in parts if part.get("text") is not None]
            others = [part for part in parts if part.get("text") is None]
            content = [{"text": "".join(texts)}, *others] if texts else others
        return convert(name, call_id, content, model)

    return broken


def _none_at_all(_: Any) -> Any:
    return frozenset()


def _no_aliases(_: Any) -> Any:
    return {}


def _active_or_not(_: Any) -> Any:
    return lambda self, name: self._tools.get(name)


def _offered_alone(get: Any) -> Any:
    def broken(self: Any, name: str) -> Any:
        tool = get(self, name)
        return tool if tool is not None and self._offered(tool) else None

    return broken


def _by_name(declarations: Any) -> Any:
    def broken(self: Any, model: Any = None) -> Any:
        return sorted(declarations(self, model), key=lambda declared: str(declared["name"]))

    return broken


def _one_file_for_all(save: Any) -> Any:
    def broken(content: str, tool_name: str, _output_id: Any, folder: Any) -> Any:
        return save(content, tool_name, "output", folder)

    return broken


def _without_the_edit(_: Any) -> Any:
    return lambda _details: None


def _numbers_as_texts(build: Any) -> Any:
    def broken(self: Any, params: Any) -> Any:
        if isinstance(params, dict):
            known = self.parameters["properties"]
            params = {
                key: str(value)
                if type(value) is int and known.get(key, {}).get("type") == "string"
                else value
                for key, value in params.items()
            }
        return build(self, params)

    return broken


def _without_nulls(build: Any) -> Any:
    def broken(self: Any, params: Any) -> Any:
        if isinstance(params, dict):
            params = {key: value for key, value in params.items() if value is not None}
        return build(self, params)

    return broken


def _declared_alone(build: Any) -> Any:
    def broken(self: Any, params: Any) -> Any:
        known = {*self.parameters["properties"], "wait_for_previous"}
        if isinstance(params, dict) and not params.keys() <= known:
            raise InvalidToolParams("params must NOT have additional properties")
        return build(self, params)

    return broken


FAULTS: Final = (
    _tools(
        name="failed-call-ends-its-batch",
        says="A call that cannot be made takes the calls queued behind it along.",
        origin="a loop over calls that is left at the first error",
        breaks=lambda: replaced(
            "services.scheduler.scheduler:ToolScheduler._next_wave", _up_to_the_first_failure
        ),
    ),
    _tools(
        name="failure-shown-as-told",
        says="What a failed tool has to show to people is lost: they see what the model is told.",
        origin="an error type that carries one message",
        breaks=lambda: replaced(
            "services.scheduler.execution:ToolExecutor._returned", _shown_as_told
        ),
    ),
    _tools(
        name="content-length-in-code-points",
        says="The length of what the model is told is counted in code points.",
        origin="another language's length of a text",
        breaks=lambda: replaced("services.scheduler.execution:js_length", _in_code_points),
    ),
    _tools(
        name="texts-of-a-result-run-together",
        says="Several texts of one result are joined without a line break between them.",
        origin="a framework's helper that gives the text of a content",
        breaks=lambda: replaced(
            "services.scheduler.execution:convert_to_function_response", _run_together
        ),
    ),
    _tools(
        name="sound-of-files-stripped",
        says="Sound that a file tool has read is left out, like that of any other tool.",
        origin="an exception for two tools that was not taken over",
        breaks=lambda: replaced("services.scheduler.responses:_READERS", _none_at_all),
    ),
    _tools(
        name="former-tool-names-unknown",
        says="A tool's former name is the name of no tool.",
        origin="a new registry, filled with the names of today",
        breaks=lambda: replaced("services.tools.registry:ALIASES", _no_aliases),
    ),
    _tools(
        name="excluded-tool-still-runs",
        says="A tool that the settings exclude is not declared, and run when it is called.",
        origin="exclusion made a matter of declarations alone",
        breaks=lambda: replaced("services.tools.registry:ToolRegistry.get", _active_or_not),
    ),
    _tools(
        name="tool-not-offered-is-unknown",
        says="A tool that the main model is not told of cannot be called either.",
        origin="a framework that looks for tools among those it declared",
        breaks=lambda: replaced("services.tools.registry:ToolRegistry.get", _offered_alone),
    ),
    _tools(
        name="declarations-by-name",
        says="Tools are declared in the order of their names, not of their registration.",
        origin="a sort that was to make requests alike",
        breaks=lambda: replaced("services.tools.registry:ToolRegistry.declarations", _by_name),
    ),
    _tools(
        name="saved-outputs-share-a-file",
        says="Long outputs of one tool are all saved to one file, the last over the others.",
        origin="a file named after the tool instead of the call",
        breaks=lambda: replaced(
            "services.scheduler.truncation:save_tool_output", _one_file_for_all
        ),
    ),
    _tools(
        name="refused-edit-not-shown",
        says="An edit that the user refused is shown without what it would have changed.",
        origin="the question's details cleared before the call is closed",
        breaks=lambda: replaced("services.scheduler.states:_pending_edit", _without_the_edit),
        closed_by="tools/edits_refused",
    ),
    _tools(
        name="numbers-taken-as-texts",
        says="A number where a text is wanted is taken as its digits instead of refused.",
        origin="a validator that coerces",
        breaks=lambda: replaced("services.tools.base:DeclarativeTool.build", _numbers_as_texts),
    ),
    _tools(
        name="null-arguments-left-out",
        says="Arguments that are null count as not given.",
        origin="a conversion of arguments that has no null",
        breaks=lambda: replaced("services.tools.base:DeclarativeTool.build", _without_nulls),
    ),
    _tools(
        name="further-arguments-refused",
        says="A call with an argument that is not declared is refused.",
        origin="a tool made of a function's signature",
        breaks=lambda: replaced("services.tools.base:DeclarativeTool.build", _declared_alone),
    ),
)
