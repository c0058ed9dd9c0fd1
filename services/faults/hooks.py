"""Faults of hooks: which ones fire, when, and the effects of their output."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.altered import Altered
from seeded_faults.wrappers import instead, only_when, passing, result, returns
from services.hooks.events import HookEvent
from services.hooks.outputs import _plain
from services.hooks.values import mapping
from services.scheduler.call_hooks import AfterCall

fault = Faults(Site.SERVICE, Behaviour.HOOKS)
held_out = Faults(Site.SERVICE, Behaviour.HOOKS, held_out=True)


def _in_trusted_folder(session: Any) -> Any:
    return Altered(session, settings=replace(session.settings, folder_trusted=True))


prompt_forgotten_over_tools = fault.wrap(
    "services.hooks.prompt_hooks:PromptHooks.leave",
    passing(has_pending_calls=lambda _: False),
    says="AfterAgent gets the tool results as the prompt.",
    origin="the prompt kept by the request, though a turn with tools has several",
)
block_not_heeded = fault.wrap(
    "services.hooks.results:HookOutput.blocks",
    instead(lambda blocks, self: self._fields.get("decision") == "deny"),
    says="A hook's `block` decision is ignored; `deny` works.",
    origin="two words for one decision, one of them missing",
)
stop_not_heeded = fault.wrap(
    "services.hooks.results:HookOutput.stops",
    returns(False),
    says="A hook's `continue: false` does not end the run.",
    origin="a framework's callbacks, which can replace an answer but not end a run",
)
hooks_in_reverse = fault.wrap(
    "services.hooks.firing:make_plan",
    result(lambda plan: replace(plan, hooks=plan.hooks[::-1])),
    says="Hooks of one event run in reverse order.",
    origin="callbacks pushed on a stack",
)
sequential_hooks_side_by_side = fault.wrap(
    "services.hooks.firing:make_plan",
    result(lambda found: replace(found, sequential=False)),
    says="Sequential hooks run at once.",
    origin="all callbacks gathered",
)
matcher_fits_whole_names = fault.wrap(
    "services.hooks.planning:_found",
    instead(lambda found, pattern, tool, budget: found(f"^(?:{pattern})$", tool, budget)),
    says="A hook's matcher must match a tool's whole name.",
    origin="Python's `fullmatch` for JavaScript's `test`",
)
same_hook_runs_twice = fault.wrap(
    "services.settings.hooks:CommandHook.key",
    instead(lambda _, self: f"{id(self)}"),
    says="A hook that two definitions name runs twice.",
    origin="hooks compared by identity",
)
only_exit_code_two_refuses = fault.wrap(
    "services.hooks.outputs:_plain",
    instead(lambda plain, text, code: plain(text, code if code in (0, 2) else 1)),
    says="A hook that exits with 3 or more only warns.",
    origin="the convention of another program's hooks",
)
changed_input_not_told = fault.wrap(
    "services.scheduler.call_hooks:with_modified_notice",
    instead(lambda _, result: result),
    says="The model is not informed that a hook changed a call's arguments.",
    origin="arguments replaced before the scheduler sees the call",
)
failing_hook_told_at_every_chunk = fault.wrap(
    "services.hooks.firing:HookFiring._is_news",
    returns(True),
    says="A failing AfterModel hook is reported once for every chunk of an answer.",
    origin="a notice per callback",
)
given_answer_lost = fault.wrap(
    "services.hooks.model_call:_synthetic",
    returns(None),
    says="An answer that a hook gives in place of the model's is not shown, only its reason.",
    origin="a framework's callbacks, whose blocking knows no answer of its own",
)
tail_call_answers_under_its_own_name = held_out.wrap(
    "services.scheduler.calls:ToolCallRequest.shown_name",
    instead(lambda _, self: self.name),
    says="A call that a hook put in place of another answers under its own name.",
    origin="the name taken from the call that was run",
)
tail_call_not_made = held_out.wrap(
    "services.hooks.results:HookOutput.tail_tool_call",
    returns(None),
    says="A follow-up call that an AfterTool hook requests is not made.",
    origin="a framework's callback after tools, which can only change the result",
)
hook_error_stream_unread = held_out.wrap(
    "services.hooks.running:parse_output",
    instead(lambda parse, stdout, _stderr, exit_code: parse(stdout, "", exit_code)),
    says="Output that a hook writes only to stderr is ignored.",
    origin="an adapter that reads one of two pipes",
)
sequential_hooks_told_the_same = held_out.wrap(
    "services.hooks.running:next_input",
    instead(lambda _, given, _output, _event: given),
    says="A hook does not see the changes of the hook before it.",
    origin="one input made for all hooks of an event",
)
disabled_hooks_run = held_out.wrap(
    "services.hooks.firing:make_plan",
    passing(disabled=lambda _: frozenset()),
    says="Hooks that the settings disable are run.",
    origin="a list that only the hooks dialog reads",
)
untrusted_hooks_run = held_out.wrap(
    "services.hooks.system:HookSystem.__init__",
    passing(session=_in_trusted_folder),
    says="Hooks run in an untrusted folder.",
    origin="trust checked where settings are read, not where hooks are created",
)
hook_config_added = held_out.wrap(
    "services.hooks.model_call:changed_config",
    instead(lambda _, said, request: {**request.config, **mapping(mapping(said).get("config"))}),
    says="Request settings that a hook's config leaves out are kept.",
    origin="an update of a mapping instead of its replacement",
    closed_by="hooks/request_config_replaced",
)
hook_limit_in_seconds = held_out.wrap(
    "services.settings.hooks:CommandHook.limit_ms",
    result(lambda found: found * 1000),
    says="A hook's time limit in milliseconds is used as seconds.",
    origin="a setting in milliseconds handed to a timer in seconds",
)
model_hooks_told_the_last_message = held_out.wrap(
    "services.hooks.firing:request_for_hooks",
    result(lambda given: {**given, "messages": given["messages"][-1:]}),
    says="Model hooks get only the last message of a request.",
    origin="a framework's callback, which gets the new message",
)
hook_variables_of_its_own_lost = held_out.wrap(
    "services.hooks.running:hook_variables",
    instead(lambda variables, inherited, places, _own: variables(inherited, places, {})),
    says="The environment variables of a hook's definition are not set.",
    origin="an environment made once for all hooks",
)
hook_asking_unheard = held_out.wrap(
    "services.hooks.results:HookOutput.asks",
    returns(False),
    says="A hook's request to ask the user is ignored.",
    origin="an adapter to callbacks that know only yes and no",
)
after_tool_told_what_people_see = held_out.wrap(
    "services.hooks.system:_response",
    instead(lambda response, result: {**response(result), "llmContent": result.return_display}),
    says="AfterTool hooks get a result's display instead of the model's content.",
    origin="two contents of one result mixed up",
)


@fault(
    "services.hooks.prompt_hooks:PromptHooks.admit",
    origin="the event hung on the framework's callback before each model call",
)
async def before_agent_at_every_request(admit: Any, self: Any, prompt_id: str, *more: Any) -> Any:
    """BeforeAgent fires for every request of a prompt, not once."""
    known = self._prompts.get(prompt_id)
    if known is not None:
        known.fired = False
    return await admit(self, prompt_id, *more)


@fault(
    "services.hooks.firing:HookFiring.fire",
    origin="the event fired by the framework's tool callback and by the scheduler",
)
async def before_tool_fired_twice(
    fire: Any, /, self: Any, event: Any, fields: Any, **more: Any
) -> Any:
    """BeforeTool fires twice for every call."""
    if event is HookEvent.BEFORE_TOOL:
        await fire(self, event, fields, **more)
    return await fire(self, event, fields, **more)


pre_compress_not_fired = fault.wrap(
    "services.hooks.firing:HookFiring.fire",
    only_when(lambda self, event, *_, **__: event is not HookEvent.PRE_COMPRESS),
    says="PreCompress does not fire.",
    origin="compression moved to code without hooks",
)


@fault(
    "services.scheduler.call_hooks:CallHooks.after",
    origin="a framework with a callback of its own for tool errors",
)
async def after_tool_only_on_success(
    after: Any, self: Any, call: Any, result: Any, signal: Any
) -> Any:
    """AfterTool does not fire for a failed tool."""
    return (
        AfterCall(result) if result.error is not None else await after(self, call, result, signal)
    )


@fault(
    "services.hooks.results:HookOutput.additional_context",
    origin="the text put into its tags by another template",
)
def hook_context_unescaped(_: Any, self: Any) -> Any:
    """Angle brackets in a hook's context reach the model unescaped."""
    said = self._specific.get("additionalContext")
    return said if isinstance(said, str) else None


last_hook_overrules = fault.wrap(
    "services.hooks.aggregation:_any_may_forbid",
    instead(lambda _, outputs: {key: each[key] for each in outputs for key in each}),
    says="A hook that allows a call overrides the denial of an earlier hook.",
    origin="outputs merged key by key",
)


@held_out("services.hooks.running:parse_output", origin="the exit code checked before the output")
def json_of_failing_hook_is_text(
    parse: Any, stdout: str, stderr: str, exit_code: int | None
) -> Any:
    """JSON output of a failing hook is treated as a plain message."""
    said = stdout.strip() or stderr.strip()
    return _plain(said, exit_code) if exit_code and said else parse(stdout, stderr, exit_code)


@held_out("services.hooks.aggregation:_any_may_forbid", origin="outputs merged as mappings")
def last_hooks_context_alone(merge: Any, outputs: Any) -> Any:
    """When several hooks add context, only the last one's is kept."""
    merged = merge(outputs)
    given = [mapping(output.get("hookSpecificOutput")) for output in outputs]
    contexts = [each["additionalContext"] for each in given if "additionalContext" in each]
    if contexts:
        own = {**merged["hookSpecificOutput"], "additionalContext": contexts[-1]}
        merged["hookSpecificOutput"] = own
    return merged


@held_out(
    "services.hooks.model_call:changed_contents", origin="a conversion that handles one direction"
)
def hook_messages_replace_contents(changed: Any, said: Any, request: Any) -> Any:
    """A hook's messages replace all contents of the request, calls and results included."""
    if not mapping(said).get("messages"):
        return request.contents
    return changed(said, replace(request, contents=[]))


@held_out(
    "services.hooks.aggregation:_any_may_forbid", origin="merging that stops at the first refusal"
)
def first_reason_alone(merge: Any, outputs: Any) -> Any:
    """Only the first of several hooks' reasons is reported."""
    merged = merge(outputs)
    reasons = [output["reason"] for output in outputs if output.get("reason")]
    return {**merged, "reason": reasons[0]} if reasons else merged


@held_out("services.hooks.aggregation:_tool_selection", origin="outputs merged as mappings")
def last_tool_choice_wins(_: Any, outputs: Any) -> Any:
    """The last hook's tool choice wins, even over an earlier NONE."""
    choices = [mapping(output.get("hookSpecificOutput")).get("toolConfig") for output in outputs]
    chosen = mapping([choice for choice in choices if choice][-1]) if any(choices) else {}
    names = sorted(chosen.get("allowedFunctionNames") or ())
    choice = {"mode": chosen.get("mode") or "AUTO", "allowedFunctionNames": names}
    return {"hookSpecificOutput": {"hookEventName": "BeforeToolSelection", "toolConfig": choice}}
