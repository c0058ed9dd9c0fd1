"""Faults of hooks: which fire, when, and what follows from their output."""

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
    says="AfterAgent receives the tool results as if they had been the prompt.",
    origin="the prompt kept by the request; a turn with tools has several",
)
block_not_heeded = fault.wrap(
    "services.hooks.results:HookOutput.blocks",
    instead(lambda blocks, self: self._fields.get("decision") == "deny"),
    says="A hook that says `block` is heard as if it had said nothing; `deny` works.",
    origin="two words for one decision, one of them forgotten",
)
stop_not_heeded = fault.wrap(
    "services.hooks.results:HookOutput.stops",
    returns(False),
    says="A hook that ends the run with `continue: false` is not heeded.",
    origin="a framework's callbacks, which can replace an answer and not end a run",
)
hooks_in_reverse = fault.wrap(
    "services.hooks.firing:make_plan",
    result(lambda plan: replace(plan, hooks=plan.hooks[::-1])),
    says="Hooks of one event run from the last to the first.",
    origin="callbacks pushed on a stack",
)
sequential_hooks_side_by_side = fault.wrap(
    "services.hooks.firing:make_plan",
    result(lambda found: replace(found, sequential=False)),
    says="Hooks that are to run one after another run at once.",
    origin="all callbacks gathered",
)
matcher_fits_whole_names = fault.wrap(
    "services.hooks.planning:_found",
    instead(lambda found, pattern, tool, budget: found(f"^(?:{pattern})$", tool, budget)),
    says="A hook's matcher must fit a tool's whole name.",
    origin="Python's `fullmatch` for JavaScript's `test`",
)
same_hook_runs_twice = fault.wrap(
    "services.settings.hooks:CommandHook.key",
    instead(lambda _, self: f"{id(self)}"),
    says="A hook that two definitions name runs twice.",
    origin="hooks distinguished by identity",
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
    says="The model does not learn that a hook changed a call's arguments.",
    origin="arguments replaced before the scheduler sees the call",
)
failing_hook_told_at_every_chunk = fault.wrap(
    "services.hooks.firing:HookFiring._is_news",
    returns(True),
    says="A failing AfterModel hook is complained of once for every chunk of an answer.",
    origin="a notice per callback",
    unobservable="words for users are on no channel, their wording being the product's own: "
    "tests/harness/faults/test_unobservable_services.py",
)
given_answer_lost = fault.wrap(
    "services.hooks.model_call:_synthetic",
    returns(None),
    says="The answer that a hook gives instead of the model's is not shown, only its reason.",
    origin="a framework's callbacks, whose blocking knows no answer of its own",
)
tail_call_answers_under_its_own_name = held_out.wrap(
    "services.scheduler.calls:ToolCallRequest.shown_name",
    instead(lambda _, self: self.name),
    says="A call that a hook had made in place of another answers under its own name.",
    origin="the name taken from the call that was run",
)
tail_call_not_made = held_out.wrap(
    "services.hooks.results:HookOutput.tail_tool_call",
    returns(None),
    says="A call that an AfterTool hook asks for in place of a result is not made.",
    origin="a framework's callback after tools, which can only change the result",
)
hook_error_stream_unread = held_out.wrap(
    "services.hooks.running:parse_output",
    instead(lambda parse, stdout, _stderr, exit_code: parse(stdout, "", exit_code)),
    says="What a hook writes to its error stream alone is not heard.",
    origin="an adapter that reads one of two pipes",
)
sequential_hooks_told_the_same = held_out.wrap(
    "services.hooks.running:_next_input",
    instead(lambda _, given, _output, _event: given),
    says="A hook that runs after another does not see what that one changed.",
    origin="an input made once for all hooks of an event",
)
disabled_hooks_run = held_out.wrap(
    "services.hooks.firing:make_plan",
    passing(disabled=lambda _: frozenset()),
    says="Hooks that the settings disable are run.",
    origin="a list that only the dialog for hooks reads",
)
untrusted_hooks_run = held_out.wrap(
    "services.hooks.system:HookSystem.__init__",
    passing(session=_in_trusted_folder),
    says="Hooks are run in a folder that is not trusted.",
    origin="trust asked for where the settings are read, and not where hooks are made",
)
hook_config_added = held_out.wrap(
    "services.hooks.model_call:changed_config",
    instead(lambda _, said, request: {**request.config, **mapping(mapping(said).get("config"))}),
    says="A request's settings that a hook leaves out of its config are kept.",
    origin="an update of a mapping instead of its replacement",
    closed_by="hooks/request_config_replaced",
)
hook_limit_in_seconds = held_out.wrap(
    "services.settings.hooks:CommandHook.limit_ms",
    result(lambda found: found * 1000),
    says="A hook may take as many seconds as it should be milliseconds.",
    origin="a setting in milliseconds handed to a timer in seconds",
)
model_hooks_told_the_last_message = held_out.wrap(
    "services.hooks.firing:request_for_hooks",
    result(lambda given: {**given, "messages": given["messages"][-1:]}),
    says="Hooks around the model get the last message of a request alone.",
    origin="a framework's callback, which gets the new message",
)
hook_variables_of_its_own_lost = held_out.wrap(
    "services.hooks.running:hook_variables",
    instead(lambda variables, inherited, places, _own: variables(inherited, places, {})),
    says="The variables that a hook's definition sets are not set.",
    origin="an environment made once for all hooks",
)
hook_asking_unheard = held_out.wrap(
    "services.hooks.results:HookOutput.asks",
    returns(False),
    says="A hook that wants a person to be asked is heard as if it had said nothing.",
    origin="an adapter to callbacks that know yes and no",
)
after_tool_told_what_people_see = held_out.wrap(
    "services.hooks.system:_response",
    instead(lambda response, result: {**response(result), "llmContent": result.return_display}),
    says="AfterTool hooks get what users see of a result in place of what the model gets.",
    origin="two contents of one result mixed up",
)


@fault(
    "services.hooks.prompt_hooks:PromptHooks.admit",
    origin="the event hung on the framework's callback before each model call",
)
async def before_agent_at_every_request(admit: Any, self: Any, prompt_id: str, *more: Any) -> Any:
    """BeforeAgent is fired for every request of a prompt, not once."""
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
    """BeforeTool is fired twice for every call."""
    if event is HookEvent.BEFORE_TOOL:
        await fire(self, event, fields, **more)
    return await fire(self, event, fields, **more)


pre_compress_not_fired = fault.wrap(
    "services.hooks.firing:HookFiring.fire",
    only_when(lambda self, event, *_, **__: event is not HookEvent.PRE_COMPRESS),
    says="PreCompress is not fired.",
    origin="compression moved to where hooks do not reach",
)


@fault(
    "services.scheduler.call_hooks:CallHooks.after",
    origin="a framework with a callback of its own for tool errors",
)
async def after_tool_only_on_success(
    after: Any, self: Any, call: Any, result: Any, signal: Any
) -> Any:
    """AfterTool is not fired for a tool that failed."""
    return (
        AfterCall(result) if result.error is not None else await after(self, call, result, signal)
    )


@fault(
    "services.hooks.results:HookOutput.additional_context",
    origin="the text put into its tags by another template",
)
def hook_context_unescaped(_: Any, self: Any) -> Any:
    """Angle brackets in a hook's context reach the model as they are."""
    said = self._specific.get("additionalContext")
    return said if isinstance(said, str) else None


last_hook_overrules = fault.wrap(
    "services.hooks.aggregation:_any_may_forbid",
    instead(lambda _, outputs: {key: each[key] for each in outputs for key in each}),
    says="A hook that allows takes back what a hook before it denied.",
    origin="outputs merged key by key",
)


@held_out("services.hooks.running:parse_output", origin="the exit code looked at before the output")
def json_of_failing_hook_is_text(
    parse: Any, stdout: str, stderr: str, exit_code: int | None
) -> Any:
    """JSON that a hook prints before it exits with an error is taken for a plain message."""
    said = stdout.strip() or stderr.strip()
    return _plain(said, exit_code) if exit_code and said else parse(stdout, stderr, exit_code)


@held_out("services.hooks.aggregation:_any_may_forbid", origin="outputs merged as mappings")
def last_hooks_context_alone(merge: Any, outputs: Any) -> Any:
    """Of the context that several hooks add only the last one's is kept."""
    merged = merge(outputs)
    given = [mapping(output.get("hookSpecificOutput")) for output in outputs]
    contexts = [each["additionalContext"] for each in given if "additionalContext" in each]
    if contexts:
        own = {**merged["hookSpecificOutput"], "additionalContext": contexts[-1]}
        merged["hookSpecificOutput"] = own
    return merged


@held_out(
    "services.hooks.model_call:changed_contents", origin="a conversion that knows one direction"
)
def hook_messages_replace_contents(changed: Any, said: Any, request: Any) -> Any:
    """A hook's messages replace the request's contents, calls and results and all."""
    if not mapping(said).get("messages"):
        return request.contents
    return changed(said, replace(request, contents=[]))


@held_out(
    "services.hooks.aggregation:_any_may_forbid", origin="merging that stops at the first refusal"
)
def first_reason_alone(merge: Any, outputs: Any) -> Any:
    """Of the reasons of several hooks only the first is reported."""
    merged = merge(outputs)
    reasons = [output["reason"] for output in outputs if output.get("reason")]
    return {**merged, "reason": reasons[0]} if reasons else merged


@held_out("services.hooks.aggregation:_tool_selection", origin="outputs merged as mappings")
def last_tool_choice_wins(_: Any, outputs: Any) -> Any:
    """Of several hooks' tool choices the last counts, also where an earlier one is NONE."""
    choices = [mapping(output.get("hookSpecificOutput")).get("toolConfig") for output in outputs]
    chosen = mapping([choice for choice in choices if choice][-1]) if any(choices) else {}
    names = sorted(chosen.get("allowedFunctionNames") or ())
    choice = {"mode": chosen.get("mode") or "AUTO", "allowedFunctionNames": names}
    return {"hookSpecificOutput": {"hookEventName": "BeforeToolSelection", "toolConfig": choice}}
