"""Faults of services in hooks: which are fired, when, and what is made of what they say."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final

from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced
from services.hooks.events import HookEvent
from services.scheduler.call_hooks import AfterCall

__all__ = ["FAULTS"]

_hooks = partial(Fault, site=Site.SERVICE, behaviour=Behaviour.HOOKS)


def _at_every_request(begin: Any) -> Any:
    async def broken(self: Any, prompt_id: str, request: Any, signal: Any = None) -> Any:
        known = self._prompts.get(prompt_id)
        if known is not None:
            known.fired = False
        return await begin(self, prompt_id, request, signal)

    return broken


def _forgetting_pending(leave: Any) -> Any:
    def broken(self: Any, prompt_id: str, *, has_pending_calls: bool, aborted: bool) -> None:
        leave(self, prompt_id, has_pending_calls=False, aborted=aborted)

    return broken


def _deny_alone(blocks: Any) -> Any:
    return lambda self: self._fields.get("decision") == "deny"


def _twice(fire: Any) -> Any:
    async def broken(self: Any, event: Any, fields: Any, **more: Any) -> Any:
        if event is HookEvent.BEFORE_TOOL:
            await fire(self, event, fields, **more)
        return await fire(self, event, fields, **more)

    return broken


def _not_at_all(fire: Any) -> Any:
    async def broken(self: Any, event: Any, fields: Any, **more: Any) -> Any:
        if event is HookEvent.PRE_COMPRESS:
            return None
        return await fire(self, event, fields, **more)

    return broken


def _reversed(make_plan: Any) -> Any:
    def broken(*args: Any) -> Any:
        plan = make_plan(*args)
        return replace(plan, hooks=plan.hooks[::-1])

    return broken


def _all_at_once(make_plan: Any) -> Any:
    return lambda *args: replace(make_plan(*args), sequential=False)


def _whole_names(found: Any) -> Any:
    return lambda pattern, tool, budget: found(f"^(?:{pattern})$", tool, budget)


def _two_alone_refuses(plain: Any) -> Any:
    return lambda text, code: plain(text, code if code in (0, 2) else 1)


def _unescaped(_: Any) -> Any:
    def broken(self: Any) -> Any:
        said = self._specific.get("additionalContext")
        return said if isinstance(said, str) else None

    return broken


def _untold(_: Any) -> Any:
    return lambda result: result


def _after_success(after: Any) -> Any:
    async def broken(self: Any, call: Any, result: Any, signal: Any) -> Any:
        return (
            AfterCall(result)
            if result.error is not None
            else await after(self, call, result, signal)
        )

    return broken


def _each_for_itself(_: Any) -> Any:
    return lambda self: f"{id(self)}"


def _last_wins(_: Any) -> Any:
    def broken(outputs: Any) -> Any:
        merged: dict[str, Any] = {}
        for output in outputs:
            merged.update(output)
        return merged

    return broken


def _news_each_time(_: Any) -> Any:
    return lambda _self, _failed, _request: True


def _no_answer(_: Any) -> Any:
    return lambda _output: None


def _without_stopping(_: Any) -> Any:
    return lambda _self: False


FAULTS: Final = (
    _hooks(
        name="before-agent-at-every-request",
        says="BeforeAgent is fired for every request of a prompt, not once.",
        origin="the event hung on the framework's callback before each model call",
        breaks=lambda: replaced("services.hooks.prompt_hooks:PromptHooks.begin", _at_every_request),
    ),
    _hooks(
        name="prompt-forgotten-over-tools",
        says="AfterAgent is told of the tool results as if they had been the prompt.",
        origin="the prompt kept by the request, of which a turn with tools has several",
        breaks=lambda: replaced(
            "services.hooks.prompt_hooks:PromptHooks.leave", _forgetting_pending
        ),
    ),
    _hooks(
        name="before-tool-fired-twice",
        says="BeforeTool is fired twice for every call.",
        origin="the event fired by the framework's tool callback and by the scheduler",
        breaks=lambda: replaced("services.hooks.firing:HookFiring.fire", _twice),
    ),
    _hooks(
        name="pre-compress-not-fired",
        says="PreCompress is not fired.",
        origin="compression moved to where hooks do not reach",
        breaks=lambda: replaced("services.hooks.firing:HookFiring.fire", _not_at_all),
    ),
    _hooks(
        name="after-tool-only-on-success",
        says="AfterTool is not fired for a tool that failed.",
        origin="a framework with a callback of its own for tool errors",
        breaks=lambda: replaced("services.scheduler.call_hooks:CallHooks.after", _after_success),
    ),
    _hooks(
        name="block-not-heeded",
        says="A hook that says `block` is heard as if it had said nothing; `deny` works.",
        origin="two words for one decision, one of them forgotten",
        breaks=lambda: replaced("services.hooks.results:HookOutput.blocks", _deny_alone),
    ),
    _hooks(
        name="stop-not-heeded",
        says="A hook that ends the run with `continue: false` is not heeded.",
        origin="a framework's callbacks, which can replace an answer and not end a run",
        breaks=lambda: replaced("services.hooks.results:HookOutput.stops", _without_stopping),
    ),
    _hooks(
        name="hooks-in-reverse",
        says="Hooks of one event run from the last to the first.",
        origin="callbacks pushed on a stack",
        breaks=lambda: replaced("services.hooks.firing:make_plan", _reversed),
    ),
    _hooks(
        name="sequential-hooks-side-by-side",
        says="Hooks that are to run one after another run at once.",
        origin="all callbacks gathered",
        breaks=lambda: replaced("services.hooks.firing:make_plan", _all_at_once),
    ),
    _hooks(
        name="matcher-fits-whole-names",
        says="A hook's matcher must fit a tool's whole name.",
        origin="Python's `fullmatch` for JavaScript's `test`",
        breaks=lambda: replaced("services.hooks.planning:_found", _whole_names),
    ),
    _hooks(
        name="same-hook-runs-twice",
        says="A hook that two definitions name runs twice.",
        origin="hooks told apart by identity",
        breaks=lambda: replaced("services.settings.hooks:CommandHook.key", _each_for_itself),
    ),
    _hooks(
        name="only-exit-code-two-refuses",
        says="A hook that exits with 3 or more only warns.",
        origin="the convention of another program's hooks",
        breaks=lambda: replaced("services.hooks.outputs:_plain", _two_alone_refuses),
    ),
    _hooks(
        name="hook-context-unescaped",
        says="Angle brackets in a hook's context reach the model as they are.",
        origin="the text put into its tags by another template",
        breaks=lambda: replaced("services.hooks.results:HookOutput.additional_context", _unescaped),
    ),
    _hooks(
        name="changed-input-not-told",
        says="The model is not told that a hook changed a call's arguments.",
        origin="arguments replaced before the scheduler sees the call",
        breaks=lambda: replaced("services.scheduler.call_hooks:with_modified_notice", _untold),
    ),
    _hooks(
        name="last-hook-overrules",
        says="A hook that allows takes back what a hook before it denied.",
        origin="outputs merged key by key",
        breaks=lambda: replaced("services.hooks.aggregation:_any_may_forbid", _last_wins),
    ),
    _hooks(
        name="failing-hook-told-at-every-chunk",
        says="A failing AfterModel hook is complained of once for every chunk of an answer.",
        origin="a notice per callback",
        breaks=lambda: replaced("services.hooks.firing:HookFiring._is_news", _news_each_time),
        unobservable="words for people are on no channel, their wording being the product's own: "
        "tests/harness/faults/test_unobservable_services.py",
    ),
    _hooks(
        name="given-answer-lost",
        says="The answer that a hook gives instead of the model's is not shown, only its reason.",
        origin="a framework's callbacks, whose blocking knows no answer of its own",
        breaks=lambda: replaced("services.hooks.model_events:_synthetic", _no_answer),
    ),
)
