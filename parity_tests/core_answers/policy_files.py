"""Policy: files of rules, rules of settings, saved answers, and what patterns are matched with."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from parity_tests.core_answers.subject import Subject
from services.outside_patterns import OutsidePattern
from services.policy.allowed_paths import AllowedPaths
from services.policy.canonical import canonical_arguments
from services.policy.command_safety import Place, is_dangerous, is_known_safe
from services.policy.engine import PolicyEngine
from services.policy.file_errors import PolicyFileError
from services.policy.patterns import command_prefix_patterns, compile_pattern, is_safe_pattern
from services.policy.rules import CheckerRule, Decision, PolicyRule, Tier, tool_aliases
from services.policy.safety import SafetyRequest
from services.policy.saved import SavedAnswers
from services.policy.sources import load_policy_rules
from services.policy.toml_files import load_policies
from services.policy.tool_names import is_valid_tool_name, mcp_tool_warnings
from services.policy.updates import UpdatePolicy
from services.settings import settings_from_parameters
from services.state import ApprovalMode, CoreEvents, SessionState, UserFeedback
from services.workspace import Workspace

__all__ = ["SUBJECTS"]


def _text(given: Any) -> str:
    return given if isinstance(given, str) else "".join(part * times for part, times in given)


def _in_folder(play: Callable[[Path], Any]) -> Any:
    with tempfile.TemporaryDirectory(prefix="answers-") as folder:
        return play(Path(folder).resolve())


def _put(root: Path, files: dict[str, Any]) -> None:
    for name, given in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if given is None:
            file.mkdir()
        elif isinstance(given, dict):
            file.symlink_to(given["link"])
        else:
            file.write_text(_text(given), "utf-8")


def _found(pattern: OutsidePattern | None, tried: Sequence[str]) -> list[bool] | None:
    return None if pattern is None else [pattern.search(each) is not None for each in tried]


def _conditions(rule: PolicyRule | CheckerRule, tried: Sequence[str]) -> list[Any]:
    return [
        rule.tool_name,
        rule.priority,
        _found(rule.args_pattern, tried),
        rule.modes,
        rule.mcp_name,
        rule.annotations,
        rule.source,
    ]


def _shown(rule: PolicyRule, tried: Sequence[str]) -> list[Any]:
    return [
        *_conditions(rule, tried),
        rule.decision,
        rule.subagent,
        rule.interactive,
        rule.allow_redirection,
        rule.deny_message,
    ]


def _shown_checker(rule: CheckerRule, tried: Sequence[str]) -> list[Any]:
    checker = rule.checker
    kind = "external" if checker.external else "in-process"
    context = checker.required_context
    return [*_conditions(rule, tried), kind, checker.name, context, checker.config]


def _problem(error: PolicyFileError) -> str:
    """The core's message has no line, and another parser's words about the syntax."""
    details = error.details
    if error.message == "TOML parsing failed" and not str(details).startswith("Inline lists"):
        details = None
    return str(replace(error, line=None, details=details))


_OURS_ALONE: Final = ("Invalid policy rule: mcpName", "Invalid policy rule: subagent")
"""Of what the core refuses only when its engine is made."""


def loaded(asked: dict[str, Any]) -> Any:
    """The rules, checkers and errors of these files."""

    def play(folder: Path) -> Any:
        _put(folder, asked["files"])
        tier = Tier(asked["tier"])
        found = load_policies([folder / name for name in asked["paths"]], lambda _path: tier)
        errors = [
            error
            for error in found.errors
            if not error.message.startswith((*_OURS_ALONE, "Invalid safety checker rule: mcpName"))
        ]
        return {
            "rules": [_shown(rule, asked["tried"]) for rule in found.rules],
            "checkers": [_shown_checker(rule, asked["tried"]) for rule in found.checkers],
            "errors": [_problem(error).replace(str(folder), "FOLDER") for error in errors],
        }

    return _in_folder(play)


def settings(asked: dict[str, Any]) -> Any:
    """The rules and checkers of these settings and files, all but the built-in ones."""

    def play(folder: Path) -> Any:
        workspace = Workspace.at(folder / "ws", folder / "home")
        workspace.root.mkdir()
        _put(folder, asked["files"])
        events, feedback = CoreEvents(), _Feedback(folder)
        events.subscribe(feedback)
        given = settings_from_parameters(asked["given"], interactive=asked["interactive"])
        found = load_policy_rules(given, workspace=workspace, events=events)
        own = [rule for rule in found.rules if not str(rule.source).startswith("Default: ")]
        checkers = [each for each in found.checkers if not str(each.source).startswith("Default: ")]
        return {
            "rules": [_shown(rule, asked["tried"]) for rule in own],
            "checkers": [_shown_checker(rule, asked["tried"]) for rule in checkers],
            "feedback": [[kind, message.split("\n")[0]] for kind, message in feedback.heard],
        }

    return _in_folder(play)


class _Feedback:
    def __init__(self, folder: Path) -> None:
        self.heard: list[tuple[str, str]] = []
        self._folder = str(folder)

    def __call__(self, event: object) -> None:
        if isinstance(event, UserFeedback):
            self.heard.append((event.severity, event.message.replace(self._folder, "FOLDER")))


def saved(asked: dict[str, Any]) -> Any:
    """What "always allow" answers add to the engine and to files."""

    def play(folder: Path) -> Any:
        _put(folder, asked["files"])
        workspace = Workspace.at(folder / "ws", folder / "home")
        events, feedback = CoreEvents(), _Feedback(folder)
        events.subscribe(feedback)
        engine = PolicyEngine(
            [],
            state=SessionState(
                session_id="s",
                model="m",
                approval_mode=ApprovalMode.DEFAULT,
                interactive=True,
                events=events,
            ),
            interactive=True,
            workspace_root=workspace.root,
            events=events,
            save=SavedAnswers(workspace=workspace, events=events).save,
        )
        added: list[Any] = []
        for answer in asked["answers"]:
            before = engine.rules
            engine.apply_update(_update(answer))
            known = set(map(id, before))
            new = [rule for rule in engine.rules if id(rule) not in known]
            added += [_shown(rule, asked["tried"]) for rule in new]
        texts: dict[str, str | None] = {}
        for at in ("ws", "home"):
            for name in ("auto-saved.toml", "auto-saved.toml.bak"):
                file = folder / at / ".gemini/policies" / name
                if file.exists():
                    text = file.read_bytes().decode() if file.is_file() else None
                    texts[str(file.relative_to(folder))] = text
        return {"added": added, "feedback": feedback.heard, "texts": texts}

    return _in_folder(play)


def _update(answer: dict[str, Any]) -> UpdatePolicy:
    return UpdatePolicy(
        tool_name=answer["toolName"],
        mcp_name=answer.get("mcpName"),
        args_pattern=answer.get("argsPattern"),
        command_prefix=answer.get("commandPrefix"),
        allow_redirection=answer.get("allowRedirection", False),
        modes=tuple(map(ApprovalMode, answer.get("modes", ()))),
        persist_scope=answer.get("persistScope"),
    )


def canonical(asked: dict[str, Any]) -> str:
    """The canonical text of a value, which `links` may make meet itself."""
    value = json.loads(json.dumps(asked["value"]))

    def at(steps: list[Any]) -> Any:
        one = value
        for step in steps:
            one = one[step]
        return one

    for to, source in asked.get("links", ()):
        at(to[:-1])[to[-1]] = at(source)
    return canonical_arguments(value)


def pattern(asked: dict[str, Any]) -> Any:
    """Where a pattern is found, and whether it may be used."""
    written = _text(asked["given"])
    try:
        found, problem = _found(compile_pattern(written), asked["tried"]), None
    except ValueError as error:
        found, problem = None, str(error)
    return {"found": found, "safe": is_safe_pattern(written), "problem": problem}


def prefixes(asked: dict[str, Any]) -> Any:
    """The patterns of command prefixes, and where they are found."""
    return [
        [each, _found(compile_pattern(each), asked["tried"])]
        for each in command_prefix_patterns(asked["given"])
    ]


def names(asked: list[str]) -> Any:
    """Which names are valid, and the other names of the same tools."""
    return [[is_valid_tool_name(name), tool_aliases(name)] for name in asked]


def unknown_tools(asked: dict[str, Any]) -> list[str]:
    """The warnings about rules for tools that a server does not have."""
    rules = [
        PolicyRule(tool_name=name, source=source, decision=Decision.ALLOW)
        for name, source in asked["rules"]
    ]
    return mcp_tool_warnings(asked["server"], asked["tools"], rules)


def commands(asked: dict[str, Any]) -> Any:
    """Which commands are harmless, and which are dangerous."""

    def play(folder: Path) -> Any:
        root = folder / "ws"
        root.mkdir()
        _put(folder, asked["files"])

        def there(word: str) -> str:
            return word.replace("FOLDER", str(folder))

        place = Place(workspace=root, cwd=Path(there(asked["cwd"])), home=folder / "home")
        answers = []
        for words in asked["asked"]:
            given = [there(word) for word in words]
            answers.append([is_known_safe(given, place), is_dangerous(given)])
        return answers

    return _in_folder(play)


def allowed_paths(asked: dict[str, Any]) -> Any:
    """What the checker of paths says of calls."""

    def play(folder: Path) -> Any:
        (folder / "ws").mkdir()
        _put(folder, asked["files"])

        def there(value: Any) -> Any:
            return json.loads(json.dumps(value).replace("FOLDER", str(folder)))

        environment = {"cwd": str(folder / "ws"), "workspaces": there(asked["workspaces"])}
        return asyncio.run(_judged(there(asked["asked"]), environment, str(folder)))

    return _in_folder(play)


async def _judged(asked: list[Any], environment: dict[str, Any], folder: str) -> list[Any]:
    answers = []
    for args, config in asked:
        says = await AllowedPaths().check(
            SafetyRequest(
                tool_name="tool", args=args, context={"environment": environment}, config=config
            )
        )
        reason = None if says.reason is None else says.reason.replace(folder, "FOLDER")
        answers.append([says.decision, reason])
    return answers


SUBJECTS: Final = tuple(
    Subject(f"policy_files.{answer.__name__}", answer)
    for answer in (
        loaded,
        settings,
        saved,
        canonical,
        pattern,
        prefixes,
        names,
        unknown_tools,
        commands,
        allowed_paths,
    )
)
