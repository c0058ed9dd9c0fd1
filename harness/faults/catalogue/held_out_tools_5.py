"""Faults of hooks, written after the corpus."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final

from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced
from services.hooks.values import mapping

__all__ = ["FAULTS"]

_hooks = partial(Fault, site=Site.SERVICE, behaviour=Behaviour.HOOKS, held_out=True)


def _its_own_name(_: Any) -> Any:
    return lambda self: self.name


def _not_made(_: Any) -> Any:
    return lambda _self: None


def _output_alone(parse: Any) -> Any:
    return lambda stdout, _stderr, exit_code: parse(stdout, "", exit_code)


def _where_it_went_well(parse: Any) -> Any:
    from services.hooks.outputs import _plain

    def broken(stdout: str, stderr: str, exit_code: int | None) -> Any:
        said = stdout.strip() or stderr.strip()
        return _plain(said, exit_code) if exit_code and said else parse(stdout, stderr, exit_code)

    return broken


def _last_context(merge: Any) -> Any:
    def broken(outputs: Any) -> Any:
        merged = merge(outputs)
        given = [mapping(output.get("hookSpecificOutput")) for output in outputs]
        contexts = [each["additionalContext"] for each in given if "additionalContext" in each]
        if contexts:
            own = {**merged["hookSpecificOutput"], "additionalContext": contexts[-1]}
            merged["hookSpecificOutput"] = own
        return merged

    return broken


def _unchanged(_: Any) -> Any:
    return lambda given, _output, _event: given


def _none_disabled(make_plan: Any) -> Any:
    return lambda definitions, _disabled, subject: make_plan(definitions, frozenset(), subject)


def _trusting(init: Any) -> Any:
    def broken(self: Any, settings: Any, **seams: Any) -> None:
        init(self, replace(settings, folder_trusted=True), **seams)

    return broken


def _merged(_: Any) -> Any:
    def broken(said: Any, request: Any) -> Any:
        return {**request.config, **mapping(mapping(said).get("config"))}

    return broken


def _texts_alone(changed: Any) -> Any:
    def broken(said: Any, request: Any) -> Any:
        if not mapping(said).get("messages"):
            return request.contents
        return changed(said, replace(request, contents=[]))

    return broken


def _in_seconds(limit: Any) -> Any:
    return lambda self: limit(self) * 1000


def _last_message(told: Any) -> Any:
    def broken(request: Any) -> Any:
        given = told(request)
        return {**given, "messages": given["messages"][-1:]}

    return broken


def _without_its_own(variables: Any) -> Any:
    return lambda inherited, places, _own: variables(inherited, places, {})


def _first_reason(merge: Any) -> Any:
    def broken(outputs: Any) -> Any:
        merged = merge(outputs)
        reasons = [output["reason"] for output in outputs if output.get("reason")]
        return {**merged, "reason": reasons[0]} if reasons else merged

    return broken


def _as_allowing(_: Any) -> Any:
    return lambda _self: False


def _told_in_full(response: Any) -> Any:
    def broken(result: Any) -> Any:
        return {**response(result), "llmContent": result.return_display}

    return broken


def _last_choice(_: Any) -> Any:
    def broken(outputs: Any) -> Any:
        choices = [
            mapping(output.get("hookSpecificOutput")).get("toolConfig") for output in outputs
        ]
        chosen = mapping([choice for choice in choices if choice][-1]) if any(choices) else {}
        names = sorted(chosen.get("allowedFunctionNames") or ())
        choice = {"mode": chosen.get("mode") or "AUTO", "allowedFunctionNames": names}
        return {
            "hookSpecificOutput": {"hookEventName": "BeforeToolSelection", "toolConfig": choice}
        }

    return broken


FAULTS: Final = (
    _hooks(
        name="tail-call-answers-under-its-own-name",
        says="A call that a hook had made in place of another answers under its own name.",
        origin="the name taken from the call that was run",
        breaks=lambda: replaced(
            "services.scheduler.calls:ToolCallRequest.shown_name", _its_own_name
        ),
    ),
    _hooks(
        name="tail-call-not-made",
        says="A call that an AfterTool hook asks for in place of a result is not made.",
        origin="a framework's callback after tools, which can only change the result",
        breaks=lambda: replaced("services.hooks.results:HookOutput.tail_tool_call", _not_made),
    ),
    _hooks(
        name="hook-error-stream-unread",
        says="What a hook writes to its error stream alone is not heard.",
        origin="an adapter that reads one of two pipes",
        breaks=lambda: replaced("services.hooks.running:parse_output", _output_alone),
    ),
    _hooks(
        name="json-of-failing-hook-is-text",
        says="JSON that a hook prints before it exits with an error is taken for a plain message.",
        origin="the exit code looked at before the output",
        breaks=lambda: replaced("services.hooks.running:parse_output", _where_it_went_well),
    ),
    _hooks(
        name="last-hooks-context-alone",
        says="Of the context that several hooks add only the last one's is kept.",
        origin="outputs merged as mappings",
        breaks=lambda: replaced("services.hooks.aggregation:_any_may_forbid", _last_context),
    ),
    _hooks(
        name="sequential-hooks-told-the-same",
        says="A hook that runs after another is not told what that one changed.",
        origin="an input made once for all hooks of an event",
        breaks=lambda: replaced("services.hooks.running:_next_input", _unchanged),
    ),
    _hooks(
        name="disabled-hooks-run",
        says="Hooks that the settings disable are run.",
        origin="a list that only the dialog for hooks reads",
        breaks=lambda: replaced("services.hooks.firing:make_plan", _none_disabled),
    ),
    _hooks(
        name="untrusted-hooks-run",
        says="Hooks are run in a folder that is not trusted.",
        origin="trust asked for where the settings are read, and not where hooks are made",
        breaks=lambda: replaced("services.hooks.system:HookSystem.__init__", _trusting),
    ),
    _hooks(
        name="hook-config-added",
        says="A request's settings that a hook leaves out of its config are kept.",
        origin="an update of a mapping instead of its replacement",
        breaks=lambda: replaced("services.hooks.model_events:changed_config", _merged),
        closed_by="hooks/request_config_replaced",
    ),
    _hooks(
        name="hook-messages-replace-contents",
        says="A hook's messages replace the request's contents, calls and results and all.",
        origin="a conversion that knows one direction",
        breaks=lambda: replaced("services.hooks.model_events:changed_contents", _texts_alone),
    ),
    _hooks(
        name="hook-limit-in-seconds",
        says="A hook may take as many seconds as it should be milliseconds.",
        origin="a setting in milliseconds handed to a timer in seconds",
        breaks=lambda: replaced("services.settings.hooks:CommandHook.limit_ms", _in_seconds),
    ),
    _hooks(
        name="model-hooks-told-the-last-message",
        says="Hooks around the model are told the last message of a request alone.",
        origin="a framework's callback, which gets the new message",
        breaks=lambda: replaced("services.hooks.firing:request_for_hooks", _last_message),
    ),
    _hooks(
        name="hook-variables-of-its-own-lost",
        says="The variables that a hook's definition sets are not set.",
        origin="an environment made once for all hooks",
        breaks=lambda: replaced("services.hooks.running:hook_variables", _without_its_own),
    ),
    _hooks(
        name="first-reason-alone",
        says="Of the reasons of several hooks only the first is told.",
        origin="merging that stops at the first refusal",
        breaks=lambda: replaced("services.hooks.aggregation:_any_may_forbid", _first_reason),
    ),
    _hooks(
        name="hook-asking-unheard",
        says="A hook that wants a person to be asked is heard as if it had said nothing.",
        origin="an adapter to callbacks that know yes and no",
        breaks=lambda: replaced("services.hooks.results:HookOutput.asks", _as_allowing),
    ),
    _hooks(
        name="after-tool-told-what-people-see",
        says="AfterTool hooks are told what people see of a result in place of what the model is.",
        origin="two contents of one result mixed up",
        breaks=lambda: replaced("services.hooks.system:_response", _told_in_full),
    ),
    _hooks(
        name="last-tool-choice-wins",
        says="Of several hooks' tool choices the last counts, also where an earlier one is NONE.",
        origin="outputs merged as mappings",
        breaks=lambda: replaced("services.hooks.aggregation:_tool_selection", _last_choice),
    ),
)
