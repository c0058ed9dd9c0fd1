"""`parity init`: adapters, project file, cassettes and workflow for two agents of a user."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from harness.errors import ReplayFailure, UsageError
from harness.replay.observation import Observation
from harness.starting.example_tool import asked_once
from harness.starting.side import KINDS, AgentSpec, parsed
from harness.starting.writing import (
    Start,
    cassette_files,
    check_free,
    project_files,
    tools_file,
    write_files,
)
from harness.wrapping import say
from parity import OWN
from runtimes.contract import RuntimeUnavailable
from services.wire import JsonObject

__all__ = ["init"]


def init(
    control: str | None,
    candidate: str | None,
    package: str,
    corpus: Path,
    model: str,
    workflow: bool,
    force: bool,
) -> int:
    """Run `parity init`; return its exit code."""
    start = _start(control, candidate, package, corpus, model, workflow=workflow)
    files = {**project_files(start), **tools_file(start, {}), **cassette_files(start, {})}
    check_free(files, force=force)
    write_files(files)
    tools, problems = _tools(start)
    if tools:
        placeholder = Path(start.corpus, "first", "pieces.yaml")
        replaced = {**tools_file(start, tools), **cassette_files(start, tools)}
        write_files(replaced)
        placeholder.unlink()
        files = {
            **{name: text for name, text in files.items() if Path(name) != placeholder},
            **replaced,
        }
    _report(start, list(files), tools, problems)
    return 0


def _start(
    control: str | None,
    candidate: str | None,
    package: str,
    corpus: Path,
    model: str,
    *,
    workflow: bool,
) -> Start:
    if not package.isidentifier() or package in {*OWN, "parity", "parity_entry"}:
        raise UsageError(
            f"{package!r} cannot be the name of the package", "name another with --package"
        )
    if corpus.is_absolute() or ".." in corpus.parts:
        raise UsageError(
            f"{corpus} is not below this folder", "name a folder of the project with --corpus"
        )
    if not re.fullmatch(r"[\w./:@-]+", model):
        raise UsageError(f"{model!r} is no name of a model", "name one with --model")
    first = _agent(control, "--control", "the agent that is taken to be right", "before")
    second = _agent(candidate, "--candidate", "the agent that is judged", "after")
    if first.module == second.module:
        problem = f"both runtimes would be called {first.name}"
        raise UsageError(problem, "name them: --control before=… --candidate after=…")
    return Start(
        control=first,
        candidate=second,
        package=package,
        corpus=corpus.as_posix(),
        model=model,
        workflow=workflow,
    )


def _agent(given: str | None, option: str, what: str, name: str) -> AgentSpec:
    """Return an agent that the user has named, or names now.

    Raises:
        UsageError: there is none, and no terminal to ask on.
    """
    if given is not None:
        return parsed(given, default_name=name)
    if not on_terminal():
        problem = f"{option} is missing, and there is no terminal to ask on"
        raise UsageError(problem, f"give {option} [NAME=]KIND:TARGET; --help lists the kinds")
    click.echo(f"\n{what} ({option})")
    for kind, target in KINDS.items():
        click.echo(f"  {kind:<8} {target}")
    kind = click.prompt("kind", type=click.Choice(list(KINDS)), default="agent")
    target = click.prompt(KINDS[kind].partition(";")[0].partition(",")[0])
    called = click.prompt("name of its runtime", default=name)
    return parsed(f"{called}={kind}:{target}", default_name=name)


def on_terminal() -> bool:
    """Return whether there is a user to ask."""
    return sys.stdin.isatty()


def _tools(start: Start) -> tuple[Mapping[str, JsonObject], list[str]]:
    """Ask both agents once; return the tools that both declare, and what hinders an agent."""
    found: list[Mapping[str, JsonObject]] = []
    problems = []
    for agent in (start.control, start.candidate):
        click.echo(f"asking {agent.name} …", err=True)
        try:
            asked = asked_once(agent.name, start.model)
        except (RuntimeUnavailable, ReplayFailure) as error:
            problems.append(str(error))
            continue
        if problem := _problem(asked.seen):
            problems.append(f"{agent.name} {problem}")
        found.append(asked.tools)
    if len(found) < 2:
        return {}, problems
    both = [name for name in found[0] if name in found[1]]
    return {name: found[0][name] for name in both}, problems


def _problem(seen: Observation) -> str | None:
    """Return why an agent did not answer a plain message, as a predicate; `None` if it did."""
    if seen.blocker is not None:
        return seen.blocker
    errors = [str(event.get("message")) for event in seen.events if event.get("type") == "error"]
    if errors:
        return f"answered with an error: {errors[0]}"
    return None if seen.requests else "sent no request to a model that parity could answer"


def _report(
    start: Start, files: list[str], tools: Mapping[str, JsonObject], problems: list[str]
) -> None:
    click.echo(f"wrote {len(files)} files:")
    for name in files:
        click.echo(f"  {name}")
    if tools:
        say(f"tools that both agents declare: {', '.join(tools)}")
    elif not problems:
        say(f"the agents declare no tool in common; {start.package}/tools.py takes tools by hand")
    for problem in problems:
        say(f"not ready: {problem}", err=True)
    if problems:
        say(f"next: mend that, then `parity doctor {start.control.name} {start.candidate.name}`")
    else:
        say("next: parity run")
