"""Faults of policy and confirmations."""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, Final

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.altered import Altered
from seeded_faults.patching import all_of, replaced
from seeded_faults.wrappers import instead, only_when, passing, put, result, returns, then
from services.abort import AbortError, until_aborted
from services.message_bus import ToolConfirmationResponse
from services.policy.rules import Decision, Tier
from services.scheduler.calls import CallStatus
from services.scheduler.states import Approval
from services.tools.contract import ConfirmationOutcome
from services.wire import js_json

fault = Faults(Site.SERVICE, Behaviour.APPROVAL)
held_out = Faults(Site.SERVICE, Behaviour.APPROVAL, held_out=True)
_ENGINE: Final = "services.policy.engine:PolicyEngine"


def _sort_lowest_first(book: Any, *_: Any) -> None:
    book._rules = tuple(sorted(book._rules, key=lambda rule: rule.priority))


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


lowest_priority_first = fault.wrap(
    "services.policy.rule_book:RuleBook.add",
    then(_sort_lowest_first),
    says="The rule with the lowest priority decides.",
    origin="an inverted sort",
)
latest_of_equals_decides = fault.wrap(
    "services.policy.rule_book:RuleBook.add",
    passing(rules=lambda rules: reversed(list(rules))),
    says="Among rules of equal priority, the last added decides.",
    origin="an unstable sort",
)
tiers_not_heeded = fault.wrap(
    "services.policy.rules:Tier.priority",
    instead(lambda priority, _self, within: 1 + within / 1000),
    says="Only a rule's priority within its file counts, not the file's tier.",
    origin="priorities used as written",
)
wildcards_literal = fault.wrap(
    "services.policy.rules:_wildcard_matches",
    instead(lambda _, pattern, name, _server: pattern == name),
    says="A rule for all tools of a server matches none of them.",
    origin="names compared for equality",
)
denial_without_reason = fault.wrap(
    "services.policy.engine:PolicyCheck.deny_message",
    returns(None),
    says="A refusal omits the message of the rule.",
    origin="a decision passed on without its rule",
)
always_means_whole_tool = fault.wrap(
    "services.scheduler.approvals:_narrowing",
    instead(lambda _, *_args: {}),
    says="Permanently allowing a command is not limited to that command.",
    origin="a confirmation dialog that returns only yes or no",
)
always_on_edits_not_remembered = fault.wrap(
    "services.scheduler.approvals:EDIT_TOOLS",
    lambda _: frozenset(),
    says="Permanently allowing edits does not change the approval mode.",
    origin="modes and answers in different services",
)
redirections_unnoticed = fault.wrap(
    "services.policy.shell_policy:has_redirection",
    returns(False),
    says="An allowed command may redirect its output to any file.",
    origin="a command parser that returns only programs",
)
only_first_command_judged = fault.wrap(
    "services.policy.shell_policy:parse_shell",
    result(lambda found: found[:1]),
    says="Only the first of several commands in a line is checked against the rules.",
    origin="a command split at spaces",
)
build_files_unguarded = fault.wrap(
    "services.policy.engine:edits_build_file",
    returns(False),
    says="Files that control a build are edited without confirmation where edits are allowed.",
    origin="a guard that upstream added after the migration had begun",
)
cancel_stops_one_call = fault.wrap(
    "services.scheduler.states:CallStore.cancel_queued",
    only_when(lambda self, reason: reason != "User cancelled operation"),
    says="When the user cancels one call, the calls queued behind it still run.",
    origin="confirmations handled separately for each call",
)
hook_changes_unseen_by_policy = held_out.breaking(
    _deciding_on_what_was_asked,
    says="The policy checks the model's arguments, not those that a hook put in place.",
    origin="hooks and policy that both read the first copy of a request",
    closed_by="hooks/input_judged_by_policy",
)
hook_spares_the_policy = held_out.breaking(
    _sparing_the_policy,
    says="A call that a BeforeTool hook allows skips the policy.",
    origin="a hook's `allow` taken for an approval",
)
unruled_tools_asked_about = held_out.wrap(
    f"{_ENGINE}.__init__",
    then(put("_default", Decision.ASK_USER)),
    says="A call without a rule asks for confirmation even where no user is present.",
    origin="an interactive default in a shared service",
)
policy_keeps_first_mode = held_out.wrap(
    f"{_ENGINE}.__init__",
    passing(state=lambda state: Altered(state, approval_mode=state.approval_mode)),
    says="The policy keeps the approval mode that the session began with.",
    origin="a setting copied when the service is created",
)
exclusion_below_permission = held_out.wrap(
    "services.policy.settings_rules:_EXCLUDED",
    lambda _: Tier.USER + 0.22,
    says="A tool that the settings both allow and exclude is allowed.",
    origin="two priorities exchanged",
    closed_by="policy/settings_overlap",
)
interactive_rules_apply_headless = held_out.wrap(
    "services.policy.rules:_caller_matches",
    instead(lambda _, rule, call: rule.subagent is None or rule.subagent == call.subagent),
    says="Rules for interactive runs also apply to others, and vice versa.",
    origin="a rule condition that a new matcher does not know",
)
dangerous_commands_unnoticed = held_out.wrap(
    "services.policy.shell_policy:is_dangerous",
    returns(False),
    says="An allowed command that forces deletion runs without confirmation.",
    origin="heuristics that stayed in the interactive half",
    closed_by="policy/dangerous_commands",
)
harmless_commands_asked_about = held_out.wrap(
    "services.policy.shell_policy:is_known_safe",
    returns(False),
    says="Commands known to be harmless ask for confirmation.",
    origin="heuristics that stayed in the interactive half",
)
always_means_in_this_mode = held_out.wrap(
    "services.policy.engine:rules_of_update",
    instead(lambda rules, update: rules(replace(update, modes=update.modes[:1]))),
    says="A permanent permission asks again in a more permissive mode.",
    origin="only the mode of the question stored, not the modes above it",
    closed_by="policy/always_over_modes",
)
always_for_the_first_program = held_out.wrap(
    "services.tools.shell:command_roots",
    result(lambda found: found[:1]),
    says="Permanently allowing a line of commands covers only the first program.",
    origin="a helper that returns one program of a command",
)
arguments_judged_as_plain_json = held_out.wrap(
    "services.policy.engine:canonical_arguments",
    lambda _: js_json,
    says="Rules see plain JSON arguments, so patterns for a whole argument fail.",
    origin="a standard serialiser in place of a special one",
)
changes_of_a_person_ignored = held_out.wrap(
    "services.scheduler.confirmation:Confirmer._replace_content",
    returns(None),
    says="An edit that the user changed during confirmation is made as proposed.",
    origin="an answer whose payload is not passed on",
    closed_by="policy/edit_changed_while_asked",
)
answers_not_saved = held_out.wrap(
    "services.policy.saved:SavedAnswers.save",
    returns(None),
    says="An answer that should be saved counts only for the session.",
    origin="a policy file that only another surface writes",
)


asking_mapped_to_allowing = fault.wrap(
    "services.policy.engine:PolicyEngine.decide",
    result(
        lambda check: (
            replace(check, decision=Decision.ALLOW)
            if check.decision is Decision.ASK_USER
            else check
        )
    ),
    says="Calls that need confirmation run without it.",
    origin="an adapter to a framework's policy that only knows yes and no",
)


refusal_taken_for_approval = fault.wrap(
    "services.scheduler.confirmation:_outcome",
    result(
        lambda found: (
            ConfirmationOutcome.PROCEED_ONCE if found is ConfirmationOutcome.CANCEL else found
        )
    ),
    says="A call that the user cancelled runs.",
    origin="a check that an answer exists, not what it says",
)


@fault("services.policy.engine:rule_matches", origin="Python's `match` for JavaScript's `test`")
def argument_pattern_anchored(
    matches: Any, rule: Any, call: Any, *, ignore_pattern: bool = False
) -> Any:
    """A rule's pattern must match arguments from their start."""
    if not matches(rule, call, ignore_pattern=ignore_pattern):
        return False
    if rule.args_pattern is None or ignore_pattern:
        return True
    return rule.args_pattern.match(call.canonical) is not None


@held_out(
    "services.scheduler.confirmation:Confirmer._answer",
    origin="answers not matched to their questions",
)
async def any_answer_settles_every_question(
    _: Any, self: Any, call_id: str, details: Any, signal: Any
) -> Any:
    """The first answer to one of several open questions settles all of them."""
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


allowed_prefix_allows_the_rest = held_out.wrap(
    "services.policy.settings_rules:_allowed",
    result(lambda rules: (each for each in rules if each.decision is not Decision.DENY)),
    says="When the settings allow one shell command, the rule for all others is missing.",
    origin="a list used only for what it allows",
    closed_by="policy/settings_overlap",
)


@held_out(f"{_ENGINE}.decide", origin="three decisions reduced to two for runs without a user")
async def unanswerable_question_is_a_refusal(
    decide: Any, /, self: Any, name: str, args: Any, **more: Any
) -> Any:
    """Without a user, a call that needs confirmation is reported as refused by a rule."""
    check = await decide(self, name, args, **more)
    # Without a user, refuse as a rule would.
    asks = check.decision is Decision.ASK_USER and not self._interactive
    return replace(check, decision=Decision.DENY) if asks else check
