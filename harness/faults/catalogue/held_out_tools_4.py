"""Faults of policy and confirmations, written after the corpus."""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any, Final

from harness.faults.altered import Altered
from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import all_of, replaced
from services.abort import AbortError, until_aborted
from services.message_bus import ToolConfirmationResponse
from services.policy.rules import Decision, Tier
from services.scheduler.calls import CallStatus
from services.scheduler.states import Approval
from services.tools.contract import ConfirmationOutcome
from services.wire import js_json

__all__ = ["FAULTS"]

_approval = partial(Fault, site=Site.SERVICE, behaviour=Behaviour.APPROVAL, held_out=True)

_ENGINE: Final = "services.policy.engine:PolicyEngine"


def _deciding_on_what_was_asked() -> AbstractContextManager[None]:
    asked: dict[str, Any] = {}

    def noted(validate: Any) -> Any:
        async def broken(self: Any, call: Any, prompts: Any) -> None:
            asked[call.call_id] = call.request.args
            await validate(self, call, prompts)

        return broken

    def decided(check: Any) -> Any:
        async def broken(self: Any, call: Any, tool: Any) -> Any:
            first = replace(call.request, args=asked[call.call_id])
            return await check(self, replace(call, request=first), tool)

        return broken

    place = "services.scheduler.validation:Validator"
    return all_of(replaced(f"{place}._validate", noted), replaced(f"{place}._check", decided))


def _sparing_the_policy() -> AbstractContextManager[None]:
    passed: list[Any] = []

    def noted(read: Any) -> Any:
        def broken(output: Any, tool: Any) -> Any:
            verdict = read(output, tool)
            if output is not None and verdict.error is None and not verdict.asks:
                passed.append(verdict)
            return verdict

        return broken

    def decided(decide: Any) -> Any:
        async def broken(self: Any, call: Any, verdict: Any, prompts: Any) -> None:
            if not any(each is verdict for each in passed):
                await decide(self, call, verdict, prompts)
                return
            self._store.set_outcome(call.call_id, ConfirmationOutcome.PROCEED_ONCE)
            self._store.transition(call.call_id, CallStatus.SCHEDULED)

        return broken

    return all_of(
        replaced("services.scheduler.call_hooks:verdict_before_call", noted),
        replaced("services.scheduler.validation:Validator._decide", decided),
    )


def _asking_by_default(init: Any) -> Any:
    def broken(self: Any, rules: Any, **seams: Any) -> None:
        init(self, rules, **seams)
        self._default = Decision.ASK_USER

    return broken


def _in_the_first_mode(init: Any) -> Any:
    def broken(self: Any, rules: Any, *, state: Any, **seams: Any) -> None:
        stale = Altered(state, approval_mode=state.approval_mode)
        init(self, rules, state=stale, **seams)

    return broken


def _below_permission(_: Any) -> Any:
    return Tier.USER + 0.22


def _whoever_is_there(_: Any) -> Any:
    return lambda rule, call: rule.subagent is None or rule.subagent == call.subagent


def _never(_: Any) -> Any:
    return lambda *_args: False


def _for_one_mode(rules: Any) -> Any:
    return lambda update: rules(replace(update, modes=update.modes[:1]))


def _first_alone(roots: Any) -> Any:
    return lambda command: roots(command)[:1]


def _as_json(_: Any) -> Any:
    return js_json


def _whatever_answer_comes(_: Any) -> Any:
    async def broken(self: Any, call_id: str, details: Any, signal: Any) -> Any:
        answer = asyncio.get_running_loop().create_future()

        def receive(response: ToolConfirmationResponse) -> None:
            if not response.requires_user_confirmation and not answer.done():
                answer.set_result(response)

        async def settled() -> Any:
            return await answer

        off = self._bus.subscribe(ToolConfirmationResponse, receive)
        try:
            asked = Approval(details, self._ids.uuid("confirmation"))
            self._store.transition(call_id, CallStatus.AWAITING_APPROVAL, asked)
            return await until_aborted(settled(), signal)
        except AbortError:
            raise RuntimeError("Operation cancelled") from None
        finally:
            off()

    return broken


def _as_proposed(_: Any) -> Any:
    return lambda *_args: None


def _this_session_alone(_: Any) -> Any:
    return lambda _self, _update: None


def _with_the_rest(allowed: Any) -> Any:
    def broken(tools: Any) -> Any:
        for rule in allowed(tools):
            if rule.decision is not Decision.DENY:
                yield rule

    return broken


def _whatever_was_asked(decide: Any) -> Any:
    async def broken(self: Any, name: str, args: Any, **more: Any) -> Any:
        check = await decide(self, name, args, **more)
        # What nobody can be asked about is refused, as a rule would.
        asks = check.decision is Decision.ASK_USER and not self._interactive
        return replace(check, decision=Decision.DENY) if asks else check

    return broken


FAULTS: Final = (
    _approval(
        name="hook-changes-unseen-by-policy",
        says="The policy judges the arguments that the model gave, not those a hook put in place.",
        origin="hooks and policy run on one request, the first copy of it kept",
        breaks=_deciding_on_what_was_asked,
        closed_by="hooks/input_judged_by_policy",
    ),
    _approval(
        name="hook-spares-the-policy",
        says="A call that a BeforeTool hook lets pass is not put to the policy any more.",
        origin="a hook's `allow` taken for an approval",
        breaks=_sparing_the_policy,
    ),
    _approval(
        name="unruled-tools-asked-about",
        says="What no rule is about is to be asked about, also where nobody is there to ask.",
        origin="an interactive default in a service that is shared",
        breaks=lambda: replaced(f"{_ENGINE}.__init__", _asking_by_default),
    ),
    _approval(
        name="policy-keeps-first-mode",
        says="The policy goes by the approval mode with which the session began.",
        origin="a setting copied when the service is made",
        breaks=lambda: replaced(f"{_ENGINE}.__init__", _in_the_first_mode),
    ),
    _approval(
        name="exclusion-below-permission",
        says="A tool that the settings both allow and exclude is allowed.",
        origin="two priorities exchanged",
        breaks=lambda: replaced("services.policy.settings_rules:_EXCLUDED", _below_permission),
        closed_by="policy/settings_overlap",
    ),
    _approval(
        name="interactive-rules-apply-headless",
        says="Rules for runs with somebody there count in others too, and the other way round.",
        origin="a condition of rules that a new matcher does not know",
        breaks=lambda: replaced("services.policy.rules:_caller_matches", _whoever_is_there),
    ),
    _approval(
        name="dangerous-commands-unnoticed",
        says="An allowed command that deletes by force is not asked about.",
        origin="heuristics that stayed in the interactive half",
        breaks=lambda: replaced("services.policy.shell_policy:is_dangerous", _never),
        closed_by="policy/dangerous_commands",
    ),
    _approval(
        name="harmless-commands-asked-about",
        says="Commands that are known to be harmless are asked about.",
        origin="heuristics that stayed in the interactive half",
        breaks=lambda: replaced("services.policy.shell_policy:is_known_safe", _never),
    ),
    _approval(
        name="always-means-in-this-mode",
        says="What was allowed for good is asked about again in a more permissive mode.",
        origin="the mode of the question noted instead of the modes from it on",
        breaks=lambda: replaced("services.policy.engine:rules_of_update", _for_one_mode),
        closed_by="policy/always_over_modes",
    ),
    _approval(
        name="always-for-the-first-program",
        says="Allowing a line of several commands for good allows the first one's program alone.",
        origin="a helper for the program of a command",
        breaks=lambda: replaced("services.tools.shell:command_roots", _first_alone),
    ),
    _approval(
        name="arguments-judged-as-plain-json",
        says="Rules see a call's arguments as plain JSON, so patterns for a whole argument fail.",
        origin="a serialiser that stands ready for a special one",
        breaks=lambda: replaced("services.policy.engine:canonical_arguments", _as_json),
    ),
    _approval(
        name="any-answer-settles-every-question",
        says="The first answer to one of several open questions is taken for all of them.",
        origin="answers not told apart by their question",
        breaks=lambda: replaced(
            "services.scheduler.confirmation:Confirmer._answer", _whatever_answer_comes
        ),
    ),
    _approval(
        name="changes-of-a-person-ignored",
        says="An edit that a person changed while confirming it is made as it was proposed.",
        origin="an answer whose payload is not handed on",
        breaks=lambda: replaced(
            "services.scheduler.confirmation:Confirmer._replace_content", _as_proposed
        ),
        closed_by="policy/edit_changed_while_asked",
    ),
    _approval(
        name="answers-not-saved",
        says="An answer that is to be kept counts for the session alone.",
        origin="a policy file that only another surface writes",
        breaks=lambda: replaced("services.policy.saved:SavedAnswers.save", _this_session_alone),
    ),
    _approval(
        name="allowed-prefix-allows-the-rest",
        says="Where the settings allow one command of the shell, a rule for the others is missing.",
        origin="a list read for what it allows alone",
        breaks=lambda: replaced("services.policy.settings_rules:_allowed", _with_the_rest),
        closed_by="policy/settings_overlap",
    ),
    _approval(
        name="unanswerable-question-is-a-refusal",
        says="A call to be asked about where nobody is there is told as refused by a rule.",
        origin="three decisions made two for runs without people",
        breaks=lambda: replaced(f"{_ENGINE}.decide", _whatever_was_asked),
    ),
)
