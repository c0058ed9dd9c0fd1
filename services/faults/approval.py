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
    then(lambda self, rules, checkers=(): self._rules.sort(key=lambda rule: rule.priority)),
    says="The rule with the lowest priority decides.",
    origin="a sort the other way round",
)
latest_of_equals_decides = fault.wrap(
    "services.policy.rule_book:RuleBook.add",
    passing(rules=lambda rules: reversed(list(rules))),
    says="Of rules with one priority the one that was added last decides.",
    origin="a sort that does not keep the order of equals",
)
tiers_not_heeded = fault.wrap(
    "services.policy.rules:Tier.priority",
    instead(lambda priority, _self, within: 1 + within / 1000),
    says="A rule's priority within its file counts, and not whose file it is.",
    origin="priorities read as they are written",
)
wildcards_literal = fault.wrap(
    "services.policy.rules:_wildcard_matches",
    instead(lambda _, pattern, name, _server: pattern == name),
    says="A rule for all tools of a server fits none of them.",
    origin="names compared for equality",
)
denial_without_reason = fault.wrap(
    "services.policy.engine:PolicyCheck.deny_message",
    returns(None),
    says="A refusal does not say what the rule has to say about it.",
    origin="a decision handed on without the rule that made it",
)
always_means_whole_tool = fault.wrap(
    "services.scheduler.approvals:_narrowing",
    instead(lambda _, *_args: {}),
    says="Allowing a command for good is not narrowed to that command.",
    origin="a confirmation dialog that hands back yes or no",
)
always_on_edits_not_remembered = fault.wrap(
    "services.scheduler.approvals:EDIT_TOOLS",
    lambda _: frozenset(),
    says="Allowing edits for good leaves the approval mode as it was.",
    origin="modes moved to another service than answers",
)
redirections_unnoticed = fault.wrap(
    "services.policy.shell_policy:has_redirection",
    returns(False),
    says="An allowed command may write to any file by redirection.",
    origin="a parser of commands that yields programs alone",
)
only_first_command_judged = fault.wrap(
    "services.policy.shell_policy:parse_shell",
    result(lambda found: found[:1]),
    says="Of several commands in a line only the first is put to the rules.",
    origin="a command split at spaces",
)
build_files_unguarded = fault.wrap(
    "services.policy.engine:edits_build_file",
    returns(False),
    says="Files that steer a build are edited unasked where edits are allowed.",
    origin="a guard that upstream added after the migration had begun",
)
cancel_stops_one_call = fault.wrap(
    "services.scheduler.states:CallStore.cancel_queued",
    only_when(lambda self, reason: reason != "User cancelled operation"),
    says="Cancelling one call leaves the ones queued behind it to be made.",
    origin="confirmations handled for each call on its own",
)
hook_changes_unseen_by_policy = held_out.breaking(
    _deciding_on_what_was_asked,
    says="The policy judges the arguments that the model gave, not those a hook put in place.",
    origin="hooks and policy run on one request, the first copy of it kept",
    closed_by="hooks/input_judged_by_policy",
)
hook_spares_the_policy = held_out.breaking(
    _sparing_the_policy,
    says="A call that a BeforeTool hook lets pass is not put to the policy any more.",
    origin="a hook's `allow` taken for an approval",
)
unruled_tools_asked_about = held_out.wrap(
    f"{_ENGINE}.__init__",
    then(put("_default", Decision.ASK_USER)),
    says="What no rule is about is to be asked about, also where no user is there to ask.",
    origin="an interactive default in a service that is shared",
)
policy_keeps_first_mode = held_out.wrap(
    f"{_ENGINE}.__init__",
    passing(state=lambda state: Altered(state, approval_mode=state.approval_mode)),
    says="The policy goes by the approval mode with which the session began.",
    origin="a setting copied when the service is made",
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
    says="Rules for runs with a user count in others too, and the other way round.",
    origin="a condition of rules that a new matcher does not know",
)
dangerous_commands_unnoticed = held_out.wrap(
    "services.policy.shell_policy:is_dangerous",
    returns(False),
    says="An allowed command that deletes by force is not asked about.",
    origin="heuristics that stayed in the interactive half",
    closed_by="policy/dangerous_commands",
)
harmless_commands_asked_about = held_out.wrap(
    "services.policy.shell_policy:is_known_safe",
    returns(False),
    says="Commands that are known to be harmless are asked about.",
    origin="heuristics that stayed in the interactive half",
)
always_means_in_this_mode = held_out.wrap(
    "services.policy.engine:rules_of_update",
    instead(lambda rules, update: rules(replace(update, modes=update.modes[:1]))),
    says="What was allowed for good is asked about again in a more permissive mode.",
    origin="the mode of the question noted instead of the modes from it on",
    closed_by="policy/always_over_modes",
)
always_for_the_first_program = held_out.wrap(
    "services.tools.shell:command_roots",
    result(lambda found: found[:1]),
    says="Allowing a line of several commands for good allows the first one's program alone.",
    origin="a helper for the program of a command",
)
arguments_judged_as_plain_json = held_out.wrap(
    "services.policy.engine:canonical_arguments",
    lambda _: js_json,
    says="Rules see a call's arguments as plain JSON, so patterns for a whole argument fail.",
    origin="a serialiser that stands ready for a special one",
)
changes_of_a_person_ignored = held_out.wrap(
    "services.scheduler.confirmation:Confirmer._replace_content",
    returns(None),
    says="An edit that a person changed while confirming it is made as it was proposed.",
    origin="an answer whose payload is not handed on",
    closed_by="policy/edit_changed_while_asked",
)
answers_not_saved = held_out.wrap(
    "services.policy.saved:SavedAnswers.save",
    returns(None),
    says="An answer that is to be kept counts for the session alone.",
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
    says="What is to be asked about is done unasked.",
    origin="an adapter to a framework's policy, which knows yes and no",
)


refusal_taken_for_approval = fault.wrap(
    "services.scheduler.confirmation:_outcome",
    result(
        lambda found: (
            ConfirmationOutcome.PROCEED_ONCE if found is ConfirmationOutcome.CANCEL else found
        )
    ),
    says="A call that the user cancelled is made.",
    origin="an answer tested for being there instead of for what it says",
)


@fault("services.policy.engine:rule_matches", origin="Python's `match` for JavaScript's `test`")
def argument_pattern_anchored(
    matches: Any, rule: Any, call: Any, *, ignore_pattern: bool = False
) -> Any:
    """A rule's pattern must fit the arguments from their beginning."""
    if not matches(rule, call, ignore_pattern=ignore_pattern):
        return False
    if rule.args_pattern is None or ignore_pattern:
        return True
    return rule.args_pattern.match(call.canonical) is not None


@held_out(
    "services.scheduler.confirmation:Confirmer._answer",
    origin="answers not distinguished by their question",
)
async def any_answer_settles_every_question(
    _: Any, self: Any, call_id: str, details: Any, signal: Any
) -> Any:
    """The first answer to one of several open questions is taken for all of them."""
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
    says="Where the settings allow one command of the shell, a rule for the others is missing.",
    origin="a list read for what it allows alone",
    closed_by="policy/settings_overlap",
)


@held_out(f"{_ENGINE}.decide", origin="three decisions made two for runs without a user")
async def unanswerable_question_is_a_refusal(
    decide: Any, /, self: Any, name: str, args: Any, **more: Any
) -> Any:
    """A call to be asked about where no user is there is reported as refused by a rule."""
    check = await decide(self, name, args, **more)
    # What no user can be asked about is refused, as a rule would.
    asks = check.decision is Decision.ASK_USER and not self._interactive
    return replace(check, decision=Decision.DENY) if asks else check
