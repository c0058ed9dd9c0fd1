"""`/stats`: what the session used.

Source: `packages/cli` `ui/commands/statsCommand.ts`, `ui/components/StatsDisplay.tsx`,
`ModelStatsDisplay.tsx`, `ToolStatsDisplay.tsx`, `ui/utils/computeStats.ts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from services.wire import JsonObject, js_locale_number
from surfaces.commands.contract import CommandContext, SlashCommand
from surfaces.commands.durations import readable_duration

__all__ = ["STATS", "session_lines"]

_DECISIONS: Final = ("accept", "reject", "modify")


def _row(title: str, value: str) -> str:
    return f"{title:<28}{value}".rstrip()


def _percent(part: float, whole: float) -> str:
    return f"{part / whole * 100 if whole > 0 else 0:.1f}%"


def session_lines(context: CommandContext) -> list[str]:
    """The summary of the session. Source: `StatsDisplay`."""
    services, session = context.services, context.session
    metrics: JsonObject = session.metrics() or _NOTHING
    tools, models, files = metrics["tools"], metrics["models"], metrics["files"]
    took = services.clock.now_ms() - session.started_ms
    api = sum(model["api"]["totalLatencyMs"] for model in models.values())
    tool = tools["totalDurationMs"]
    active = api + tool
    reviewed = sum(tools["totalDecisions"][each] for each in _DECISIONS)
    calls = f"{tools['totalCalls']} ( \u2713 {tools['totalSuccess']} x {tools['totalFail']} )"
    lines = ["Interaction Summary", _row("Session ID:", services.state.session_id)]
    lines += [_row("Auth Method:", session.auth_type)] if session.auth_type else []
    lines += [
        _row("Tool Calls:", calls),
        _row("Success Rate:", _percent(tools["totalSuccess"], tools["totalCalls"])),
    ]
    if reviewed:
        agreed = _percent(tools["totalDecisions"]["accept"], reviewed)
        lines.append(_row("User Agreement:", f"{agreed} ({reviewed} reviewed)"))
    added, removed = files["totalLinesAdded"], files["totalLinesRemoved"]
    lines += [_row("Code Changes:", f"+{added} -{removed}")] if added or removed else []
    lines += [
        "",
        "Performance",
        _row("Wall Time:", readable_duration(took)),
        _row("Agent Active:", readable_duration(active)),
        _row("  \u00bb API Time:", f"{readable_duration(api)} ({_percent(api, active)})"),
        _row("  \u00bb Tool Time:", f"{readable_duration(tool)} ({_percent(tool, active)})"),
    ]
    return [*lines, *_usage_table(models)]


def _usage_table(models: Mapping[str, Any]) -> list[str]:
    if not models:
        return []
    heads = ("Model", "Reqs", "Input Tokens", "Cache Reads", "Output Tokens")
    rows = [_columns(*heads)]
    for name, model in models.items():
        rows.append(_usage_row(name, model["api"]["totalRequests"], model["tokens"]))
        for role, counts in _roles(model):
            rows.append(_usage_row(f"  \u21b3 {role}", counts["totalRequests"], counts["tokens"]))
    note = "Use /model to view model quota information"
    return ["", "Model Usage", note, "", *rows]


def _roles(model: JsonObject) -> Iterable[tuple[str, JsonObject]]:
    used = ((role, counts) for role, counts in model["roles"].items() if counts["totalRequests"])
    return sorted(used, key=lambda each: (each[0] != "main", each[0]))


def _usage_row(name: str, requests: int, tokens: JsonObject) -> str:
    counted = (js_locale_number(tokens[key]) for key in ("prompt", "cached", "candidates"))
    return _columns(name, str(requests), *counted)


def _columns(name: str, requests: str, given: str, cached: str, out: str) -> str:
    return f"{name:<28}{requests:>8}{given:>14}{cached:>14}{out:>14}"


async def _session(context: CommandContext) -> None:
    context.panel("\n".join(["Session Stats", "", *session_lines(context)]))


async def _models(context: CommandContext) -> None:
    metrics: JsonObject = context.session.metrics() or _NOTHING
    models = {
        name: model
        for name, model in metrics["models"].items()
        if model["api"]["totalRequests"] > 0
    }
    if not models:
        context.panel("No API calls have been made in this session.")
        return
    rows = {title: [value(model) for model in models.values()] for title, value in _MODEL_ROWS}
    wide = max(28, *(len(name) + 2 for name in models))
    lines = [f"{'Metric':<20}" + "".join(f"{name:<{wide}}" for name in models).rstrip()]
    lines += [
        f"{title:<20}" + "".join(f"{value:<{wide}}" for value in values).rstrip()
        for title, values in rows.items()
    ]
    context.panel("\n".join(["Model Stats For Nerds", "", *lines]))


def _errors(model: JsonObject) -> str:
    api = model["api"]
    return f"{api['totalErrors']} ({_percent(api['totalErrors'], api['totalRequests'])})"


def _latency(model: JsonObject) -> str:
    api = model["api"]
    return readable_duration(api["totalLatencyMs"] / api["totalRequests"])


def _cache_reads(model: JsonObject) -> str:
    tokens = model["tokens"]
    share = _percent(tokens["cached"], tokens["prompt"])
    return f"{js_locale_number(tokens['cached'])} ({share})"


_MODEL_ROWS: Final = (
    ("Requests", lambda model: js_locale_number(model["api"]["totalRequests"])),
    ("Errors", _errors),
    ("Avg Latency", _latency),
    ("Total Tokens", lambda model: js_locale_number(model["tokens"]["total"])),
    ("Input", lambda model: js_locale_number(model["tokens"]["input"])),
    ("Cache Reads", _cache_reads),
    ("Thoughts", lambda model: js_locale_number(model["tokens"]["thoughts"])),
    ("Tool", lambda model: js_locale_number(model["tokens"]["tool"])),
    ("Output", lambda model: js_locale_number(model["tokens"]["candidates"])),
)


async def _tools(context: CommandContext) -> None:
    metrics: JsonObject = context.session.metrics() or _NOTHING
    used = {name: each for name, each in metrics["tools"]["byName"].items() if each["count"]}
    if not used:
        context.panel("No tool calls have been made in this session.")
        return
    lines = [_tool_row("Tool Name", "Calls", "Success Rate", "Avg Duration")]
    for name, each in used.items():
        average = readable_duration(each["durationMs"] / each["count"])
        rate = _percent(each["success"], each["count"])
        lines.append(_tool_row(name, str(each["count"]), rate, average))
    counts = {key: sum(each["decisions"][key] for each in used.values()) for key in _DECISIONS}
    reviewed = sum(counts.values())
    agreed = _percent(counts["accept"], reviewed) if reviewed else "--"
    lines += [
        "",
        "User Decision Summary",
        _sum_row("Total Reviewed Suggestions:", reviewed),
        _sum_row(" \u00bb Accepted:", counts["accept"]),
        _sum_row(" \u00bb Rejected:", counts["reject"]),
        _sum_row(" \u00bb Modified:", counts["modify"]),
        _sum_row(" Overall Agreement Rate:", agreed),
    ]
    context.panel("\n".join(["Tool Stats For Nerds", "", *lines]))


def _sum_row(name: str, value: int | str) -> str:
    return f"{name:<40}{value:>8}"


def _tool_row(name: str, calls: str, rate: str, average: str) -> str:
    return f"{name:<25}{calls:>8}{rate:>15}{average:>15}"


_NOTHING: Final[JsonObject] = {
    "models": {},
    "tools": {
        "totalCalls": 0,
        "totalSuccess": 0,
        "totalFail": 0,
        "totalDurationMs": 0,
        "totalDecisions": {"accept": 0, "reject": 0, "modify": 0},
        "byName": {},
    },
    "files": {"totalLinesAdded": 0, "totalLinesRemoved": 0},
}
STATS: Final = SlashCommand(
    name="stats",
    aliases=("usage",),
    description="Check session stats. Usage: /stats [session|model|tools]",
    concurrent=True,
    action=_session,
    subcommands=tuple(
        SlashCommand(
            name=name,
            description=f"Show {name.removesuffix('s')}-specific usage statistics",
            runs_at_once=True,
            concurrent=True,
            action=action,
        )
        for name, action in (("session", _session), ("model", _models), ("tools", _tools))
    ),
)
