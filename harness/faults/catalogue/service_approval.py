"""Faults of services in what may be done, and what is asked about first."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final

from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced
from services.policy.rules import Decision
from services.tools.contract import ConfirmationOutcome

__all__ = ["FAULTS"]

_approval = partial(Fault, site=Site.SERVICE, behaviour=Behaviour.APPROVAL)


def _asking_is_allowing(decide: Any) -> Any:
    async def broken(self: Any, *args: Any, **more: Any) -> Any:
        check = await decide(self, *args, **more)
        if check.decision is Decision.ASK_USER:
            return replace(check, decision=Decision.ALLOW)
        return check

    return broken


def _lowest_first(add: Any) -> Any:
    def broken(self: Any, rules: Any, checkers: Any = ()) -> None:
        add(self, rules, checkers)
        self._rules.sort(key=lambda rule: rule.priority)

    return broken


def _latest_of_equals_first(add: Any) -> Any:
    def broken(self: Any, rules: Any, checkers: Any = ()) -> None:
        add(self, reversed(list(rules)), checkers)

    return broken


def _without_tiers(priority: Any) -> Any:
    def broken(_self: Any, within: int) -> float:
        return 1 + within / 1000

    return broken


def _wholesale(_: Any) -> Any:
    return lambda *_args: {}


def _no_edits(_: Any) -> Any:
    return frozenset()


def _none_found(_: Any) -> Any:
    return lambda *_args: False


def _first_only(parse: Any) -> Any:
    return lambda command: parse(command)[:1]


def _for_itself_alone(cancel: Any) -> Any:
    def broken(self: Any, reason: str) -> None:
        if reason != "User cancelled operation":
            cancel(self, reason)

    return broken


def _unsaid(_: Any) -> Any:
    return lambda _self: None


def _to_the_letter(_: Any) -> Any:
    def broken(pattern: str, name: str, _server: Any) -> bool:
        return pattern == name

    return broken


def _from_the_start(matches: Any) -> Any:
    def broken(rule: Any, call: Any, *, ignore_pattern: bool = False) -> Any:
        if not matches(rule, call, ignore_pattern=ignore_pattern):
            return False
        if rule.args_pattern is None or ignore_pattern:
            return True
        return rule.args_pattern.match(call.canonical) is not None

    return broken


def _yes_for_no_answer(outcome: Any) -> Any:
    def broken(answer: Any) -> Any:
        found = outcome(answer)
        if found is ConfirmationOutcome.CANCEL:
            return ConfirmationOutcome.PROCEED_ONCE
        return found

    return broken


FAULTS: Final = (
    _approval(
        name="asking-mapped-to-allowing",
        says="What is to be asked about is done unasked.",
        origin="an adapter to a framework's policy, which knows yes and no",
        breaks=lambda: replaced("services.policy.engine:PolicyEngine.decide", _asking_is_allowing),
    ),
    _approval(
        name="refusal-taken-for-approval",
        says="A call that the user cancelled is made.",
        origin="an answer tested for being there instead of for what it says",
        breaks=lambda: replaced("services.scheduler.confirmation:_outcome", _yes_for_no_answer),
    ),
    _approval(
        name="lowest-priority-first",
        says="The rule with the lowest priority decides.",
        origin="a sort the other way round",
        breaks=lambda: replaced("services.policy.rule_book:RuleBook.add", _lowest_first),
    ),
    _approval(
        name="latest-of-equals-decides",
        says="Of rules with one priority the one that was added last decides.",
        origin="a sort that does not keep the order of equals",
        breaks=lambda: replaced("services.policy.rule_book:RuleBook.add", _latest_of_equals_first),
    ),
    _approval(
        name="tiers-not-heeded",
        says="A rule's priority within its file counts, and not whose file it is.",
        origin="priorities read as they are written",
        breaks=lambda: replaced("services.policy.rules:Tier.priority", _without_tiers),
    ),
    _approval(
        name="wildcards-literal",
        says="A rule for all tools of a server fits none of them.",
        origin="names compared for equality",
        breaks=lambda: replaced("services.policy.rules:_wildcard_matches", _to_the_letter),
    ),
    _approval(
        name="argument-pattern-anchored",
        says="A rule's pattern must fit the arguments from their beginning.",
        origin="Python's `match` for JavaScript's `test`",
        breaks=lambda: replaced("services.policy.engine:rule_matches", _from_the_start),
    ),
    _approval(
        name="denial-without-reason",
        says="A refusal does not say what the rule has to say about it.",
        origin="a decision handed on without the rule that made it",
        breaks=lambda: replaced("services.policy.engine:PolicyCheck.deny_message", _unsaid),
    ),
    _approval(
        name="always-means-whole-tool",
        says="Allowing a command for good is not narrowed to that command.",
        origin="a confirmation dialog that hands back yes or no",
        breaks=lambda: replaced("services.scheduler.approvals:_narrowing", _wholesale),
    ),
    _approval(
        name="always-on-edits-not-remembered",
        says="Allowing edits for good leaves the approval mode as it was.",
        origin="modes moved to another service than answers",
        breaks=lambda: replaced("services.scheduler.approvals:EDIT_TOOLS", _no_edits),
    ),
    _approval(
        name="redirections-unnoticed",
        says="An allowed command may write to any file by redirection.",
        origin="a parser of commands that yields programs alone",
        breaks=lambda: replaced("services.policy.shell_policy:has_redirection", _none_found),
    ),
    _approval(
        name="only-first-command-judged",
        says="Of several commands in a line only the first is put to the rules.",
        origin="a command split at spaces",
        breaks=lambda: replaced("services.policy.shell_policy:parse_shell", _first_only),
    ),
    _approval(
        name="build-files-unguarded",
        says="Files that steer a build are edited unasked where edits are allowed.",
        origin="a guard that upstream added after the migration had begun",
        breaks=lambda: replaced("services.policy.engine:edits_build_file", _none_found),
    ),
    _approval(
        name="cancel-stops-one-call",
        says="Cancelling one call leaves the ones queued behind it to be made.",
        origin="confirmations handled for each call on its own",
        breaks=lambda: replaced(
            "services.scheduler.states:CallStore.cancel_queued", _for_itself_alone
        ),
    ),
)
