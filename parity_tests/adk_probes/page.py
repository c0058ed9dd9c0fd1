"""Generates `docs/adk-plugins.md`: which third-party ADK code works, by the results of the probes.

`python -m parity_tests.adk_probes.page` writes the page in a checkout; with `--check` it only
reports whether the page is stale.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import click

from parity_tests.adk_probes.catalogue import GROUPS, all_probes
from parity_tests.adk_probes.differences import DIFFERENCES, USUAL
from parity_tests.adk_probes.judge import Outcome, judged
from parity_tests.adk_probes.probe import Probe
from parity_tests.adk_probes.shipped import LEFT_OUT

__all__ = ["main", "page"]

_PAGE: Final = Path("docs", "adk-plugins.md")
_MEND: Final = "python -m parity_tests.adk_probes.page"
_PATHS: Final = 3
_HEAD: Final = """\
# Third-party ADK plugins

<!-- Written by `python -m parity_tests.adk_probes.page`, never by hand. -->

A program that embeds the adk runtime passes plugins to `runtimes.adk.open_runtime` as `plugins=`,
and places request processors with `arrange_flow=`. To try a plugin without a program, use
`parity agent --runtime adk --adk-plugin package.module:attribute`. The attribute is a
`BasePlugin`, its class, or a function that returns one. `parity run --adk-plugin` runs the corpus
with the plugin. With a plugin that only observes, every case stays at parity. No gate counts such a
run.

ADK calls these plugins after the runtime's own plugins, in the given order. Subagents use the same
instances, and so do the agents that ADK's `AgentTool` runs. The runtime closes the plugins when it
is closed.

Each row below is a probe. A probe runs one scripted model with the same plugin twice: under a stock
`LlmAgent` and under the adk runtime. The same must be: the requests as the model gets them and as
the first plugin finds them, the events, the session's events and state at the end, what a client
sees, and the number of callbacks, except for the differences that
[the last section](#differences) lists. Each row names the differences that its probe showed. The
rows omit those that nearly every probe shows: {usual}.
"""


def page(outcome_of: Callable[[Probe], Outcome] = judged) -> str:
    """The whole page."""
    probes = all_probes()
    outcomes = {probe.name: outcome_of(probe) for probe in probes}
    works = sum(not outcome.left for outcome in outcomes.values())
    usual = ", ".join(each.name for each in DIFFERENCES if each.name in USUAL)
    lines = [_HEAD.format(usual=usual), f"{works} of {len(probes)} probes work.", ""]
    for heading, group in GROUPS:
        lines += [f"## {heading}", "", "| what | works | differences |", "| --- | --- | --- |"]
        for probe in group:
            outcome = outcomes[probe.name]
            named = ", ".join(sorted(outcome.allowed - USUAL))
            lines.append(f"| {probe.row} | {_works(outcome)} | {named} |")
        lines.append("")
    lines += ["Not probed:", "", *(f"- `{name}`: {why}" for name, why in LEFT_OUT.items()), ""]
    lines += ["## Differences", ""]
    lines += [f"- **{each.name}**: {each.reason}" for each in DIFFERENCES]
    return "\n".join(lines) + "\n"


def _works(outcome: Outcome) -> str:
    if not outcome.left:
        return "yes"
    paths = list(
        dict.fromkeys(re.sub(r"\[\d+\]", "[]", each.partition(":")[0]) for each in outcome.left)
    )
    more = f" and {len(paths) - _PATHS} more" if len(paths) > _PATHS else ""
    return f"no: {', '.join(f'`{path}`' for path in paths[:_PATHS])}{more}"


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if the page is stale.")
@click.pass_context
def main(ctx: click.Context, /, check: bool) -> None:
    """Write docs/adk-plugins.md.

    Exit codes: 0 the page is current; 1 it is stale (--check).
    """
    file = (ctx.obj or Path(__file__).resolve().parents[2]) / _PAGE
    now = file.read_text("utf-8") if file.is_file() else ""
    fresh = page()
    if now == fresh:
        click.echo(f"{_PAGE} agrees with the results of the probes")
    elif check:
        problem = f"{_PAGE} is stale: it differs from the results of the probes"
        click.echo(f"{problem}; mend it with `{_MEND}`", err=True)
        ctx.exit(1)
    else:
        file.write_text(fresh, "utf-8")
        click.echo(f"written: {_PAGE}")


if __name__ == "__main__":
    main()
