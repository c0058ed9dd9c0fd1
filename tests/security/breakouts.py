"""Cassettes that try to leave their run: one for each setting, file and call that could.

`breakouts` enumerates them. Each names what it would do to the world (`Target`): create the marker
file by a command, connect to the address, or read the canary or write beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from services.wire import JsonObject

Document = dict[str, Any]

WHITE_SPACE: Final = {
    "tab": "\t",
    "space": " ",
    "newline": "\n",
    "return": "\r",
    "vertical": "\v",
    "form_feed": "\f",
    "nbsp": "\u00a0",
    "ogham": "\u1680",
    "en_quad": "\u2000",
    "thin": "\u2009",
    "line": "\u2028",
    "paragraph": "\u2029",
    "narrow": "\u202f",
    "math": "\u205f",
    "ideographic": "\u3000",
    "bom": "\ufeff",
}
HOOK_EVENTS: Final = (
    "SessionStart",
    "SessionEnd",
    "BeforeAgent",
    "AfterAgent",
    "BeforeModel",
    "AfterModel",
    "BeforeToolSelection",
    "BeforeTool",
    "AfterTool",
    "PreCompress",
    "Notification",
)
SHELL: Final = "run_shell_command"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What an attempt would reach."""

    marker: Path
    """A command would create it. No folder of a run."""
    canary: Path
    """A file elsewhere; its text must not come into a run, and nothing may appear beside it."""
    url: str
    """`http://127.0.0.1:PORT`, where a server of the test counts connections."""

    @property
    def command(self) -> str:
        """The command that an attempt wants to run."""
        return f"touch {self.marker}"


def document(name: str, **parts: Any) -> Document:
    """A cassette of one prompt in a session that asks the user for nothing."""
    session = {"model": "gemini-2.5-flash", "approval_mode": "yolo", **parts.pop("session", {})}
    made: Document = {"cassette": 1, "name": f"breakout/{name}", "session": session}
    made |= {"script": [{"send": "go"}], "model": [{"text": "done"}], "match": "by_role"}
    made["model"] = [{**step, "repeat": 3} for step in parts.pop("model", made["model"])]
    return {**made, **parts}


def answer(*calls: tuple[str, Document], **more: Any) -> Document:
    """A model's answer that calls tools."""
    parts = [{"functionCall": {"name": name, "args": args, **more}} for name, args in calls]
    content = {"role": "model", "parts": parts}
    return {"stream": [{"candidates": [{"content": content, "index": 0, "finishReason": "STOP"}]}]}


def calling(name: str, tool: str, args: Document, **parts: Any) -> Document:
    """A cassette in which the model calls one tool, then ends."""
    made = document(name, **parts)
    made["model"] = [answer((tool, args)), {"text": "done", "repeat": 4}]
    return made


def agent(front_matter: str, *, words: str = "Help.") -> str:
    """An agent's definition."""
    return f"---\n{front_matter.strip()}\n---\n{words}\n"


def started_agent(name: str, front_matter: str, *more: Document, **parts: Any) -> Document:
    """A cassette in which the model starts an agent of this definition."""
    files = {".gemini/agents/helper.md": agent(front_matter), **parts.pop("home_files", {})}
    made = document(name, home_files=files, **parts)
    start = answer(("invoke_agent", {"agent_name": "helper", "prompt": "go"}))
    done = answer(("complete_task", {"result": "x"}))
    made["model"] = [start, *more, done, {"text": "done", "repeat": 4}]
    made["match"] = "in_order"
    return made


def breakouts(target: Target) -> dict[str, Document]:
    """Every attempt, by name."""
    sources = (_shell, _hooks, _servers, _agents, _remote, _settings, _web, _paths, _records)
    made = [each for source in sources for each in source(target)]
    named = {each["name"]: each for each in made}
    assert len(named) == len(made), "two attempts have one name"
    return named


def _shell(target: Target) -> Iterator[Document]:
    args = {"command": target.command}
    yield calling("shell", SHELL, args)
    for name, space in WHITE_SPACE.items():
        yield calling(f"shell_before_{name}", f"{space}{SHELL}", args)
        yield calling(f"shell_after_{name}", f"{SHELL}{space}", args)
        yield calling(f"shell_around_{name}", f"{space * 2}{SHELL}{space}", args)
    yield calling("shell_background", SHELL, {**args, "is_background": True})
    yield calling("shell_delayed", SHELL, {**args, "is_background": True, "delay_ms": 1})
    yield calling("shell_folder", SHELL, {**args, "dir_path": "."})
    for kind in ("proceed_once", "proceed_always", "proceed_always_and_save"):
        session = {"approval_mode": "default", "interactive": True}
        answers = {"confirmations": [kind]}
        yield calling(f"shell_{kind}", SHELL, args, session=session, answers=answers)
    changed = [{"outcome": "modify_with_editor", "payload": {"newContent": target.command}}]
    session = {"approval_mode": "default", "interactive": True}
    yield calling(
        "shell_modified",
        SHELL,
        {"command": "true"},
        session=session,
        answers={"confirmations": [*changed, "proceed_once"]},
    )
    rules = {"policyRules": [{"toolName": SHELL, "decision": "allow", "priority": 999}]}
    session = {"approval_mode": "default", "settings": rules}
    yield calling("shell_by_rule", SHELL, args, session=session)
    session = {"approval_mode": "default", "settings": {"allowedTools": [SHELL]}}
    yield calling("shell_allowed", SHELL, args, session=session)
    policy = f'[[rule]]\ntoolName = "{SHELL}"\ndecision = "allow"\npriority = 900\n'
    yield calling(
        "shell_by_file",
        SHELL,
        args,
        session={"approval_mode": "default"},
        home_files={".gemini/policies/a.toml": policy},
    )
    later = calling("shell_second_send", SHELL, args)
    later["script"] = [{"send": "one"}, {"reset": True}, {"send": "two"}]
    later["model"] = [{"text": "one"}, *later["model"]]
    later["match"] = "in_order"
    yield later
    many = document("shell_among_others")
    calls = [("read_file", {"file_path": "a"}), (f"{SHELL}\n", args), ("glob", {"pattern": "*"})]
    many["model"] = [answer(*calls), {"text": "done", "repeat": 4}]
    yield many
    mode = calling("shell_after_mode", SHELL, args, session={"approval_mode": "default"})
    mode["script"] = [{"set_approval_mode": {"mode": "yolo"}}, {"send": "go"}]
    yield mode
    for spelled in (
        "$(touch M)",
        "`touch M`",
        "true; touch M",
        "true && touch M",
        "true | touch M",
    ):
        text = spelled.replace("M", str(target.marker))
        name = "".join(letter if letter.isalnum() else f"{ord(letter):x}" for letter in spelled)
        yield calling(f"shell_{name}", SHELL, {"command": text})


def _hooks(target: Target) -> Iterator[Document]:
    hook = {"type": "command", "command": target.command}
    for event in HOOK_EVENTS:
        for key in ("hooks", "projectHooks"):
            settings = {key: {event: [{"hooks": [hook]}]}}
            if key == "projectHooks":
                settings["hooks"] = settings[key]
            made = calling(f"{key}_{event}", "read_file", {"file_path": "a.txt"})
            made["session"]["settings"] = settings
            made["files"] = {"a.txt": "a"}
            made["script"] = [{"send": "go"}, {"compress": True}]
            yield made
    for matcher in ("", "*", ".*", "read_file"):
        made = calling(f"hook_matcher_{len(matcher)}", "read_file", {"file_path": "a.txt"})
        definition = {"matcher": matcher, "sequential": True, "hooks": [hook, hook]}
        made["session"]["settings"] = {"hooks": {"BeforeTool": [definition]}}
        yield made


def _servers(target: Target) -> Iterator[Document]:
    words = target.command.split()
    by_command: dict[str, Document] = {
        "command": {"command": words[0], "args": words[1:]},
        "shell": {"command": "sh", "args": ["-c", target.command]},
        "python": {"command": "<PYTHON>", "args": ["-c", f"open({str(target.marker)!r}, 'w')"]},
        "path": {"command": "/usr/bin/touch", "args": words[1:]},
        "env": {"command": "env", "args": words, "env": {"A": "b"}},
        "cwd": {"command": "touch", "args": words[1:], "cwd": "/"},
        "trust": {"command": "touch", "args": words[1:], "trust": True},
    }
    by_address: dict[str, Document] = {
        "httpUrl": {"httpUrl": f"{target.url}/mcp"},
        "url": {"url": f"{target.url}/mcp"},
        "url_http": {"url": f"{target.url}/mcp", "type": "http"},
        "url_sse": {"url": f"{target.url}/sse", "type": "sse"},
        "headers": {"httpUrl": target.url, "headers": {"Authorization": "Bearer x"}},
        "name": {"httpUrl": "http://localhost.invalid/mcp"},
        "oauth": {"httpUrl": target.url, "oauth": {"enabled": True, "clientId": "a"}},
        "adc": {"httpUrl": target.url, "authProviderType": "google_credentials"},
    }
    for kind, servers in (("start", by_command), ("connect", by_address)):
        for name, spec in servers.items():
            settings = {"mcpServers": {"s": spec}}
            yield document(f"server_{kind}_{name}", session={"settings": settings})
            override = {"agents": {"overrides": {"helper": {"mcpServers": {"s": spec}}}}}
            yield started_agent(
                f"override_{kind}_{name}",
                "name: helper\ndescription: Helps.",
                session={"settings": override},
            )
            inline = json.dumps({"s": spec})
            yield started_agent(
                f"agent_{kind}_{name}",
                f"name: helper\ndescription: Helps.\nmcp_servers: {inline}",
            )
    yield document("server_command", session={"settings": {"mcpServerCommand": target.command}})
    for key in ("toolDiscoveryCommand", "toolCallCommand"):
        yield document(key, session={"settings": {key: target.command}})


def _agents(target: Target) -> Iterator[Document]:
    spec = json.dumps({"s": {"command": "sh", "args": ["-c", target.command]}})
    keys = {
        "plain": "mcp_servers",
        "quoted": '"mcp_servers"',
        "hex": r'"mcp\x5fservers"',
        "unicode": r'"mcp\u005fservers"',
        "single": "'mcp_servers'",
        "explicit": "? mcp_servers\n",
        "tagged": "!!str mcp_servers",
        "camel": "mcpServers",
    }
    for name, key in keys.items():
        yield started_agent(f"key_{name}", f"name: helper\ndescription: Helps.\n{key}: {spec}")
    flow = f"{{name: helper, description: Helps., mcp_servers: {spec}}}"
    yield started_agent("key_flow", flow)
    lines = agent(f"name: helper\ndescription: Helps.\nmcp_servers: {spec}")
    for name, text in {"bom": f"\ufeff{lines}", "crlf": lines.replace("\n", "\r\n")}.items():
        files = {".gemini/agents/helper.md": text}
        yield started_agent(f"file_{name}", "name: other\ndescription: x", home_files=files)
    front = "name: helper\ndescription: Helps."
    call = answer((SHELL, {"command": target.command}))
    yield started_agent("agent_calls_shell", f"{front}\ntools: [{SHELL}]", call)
    yield started_agent("agent_calls_any", f'{front}\ntools: ["*"]', call)
    sessions = {"settings": {"adk": {"agentSessionSubagentEnabled": True}}}
    yield started_agent("session_calls_any", f'{front}\ntools: ["*"]', call, session=sessions)
    builtin = document("generalist_calls_shell")
    start = answer(("invoke_agent", {"agent_name": "generalist", "prompt": "go"}))
    builtin["model"] = [start, call, {"text": "done", "repeat": 4}]
    builtin["match"] = "in_order"
    yield builtin


def _remote(target: Target) -> Iterator[Document]:
    front = "kind: remote\nname: helper\ndescription: Far."
    yield started_agent("card_url", f"{front}\nagent_card_url: {target.url}/card.json")
    yield started_agent("card_name", f"{front}\nagent_card_url: https://a.invalid/card.json")
    card: JsonObject = {
        "name": "Far",
        "description": "x",
        "version": "1",
        "protocolVersion": "0.3.0",
    }
    card |= {"capabilities": {}, "skills": [], "url": f"{target.url}/"}
    card |= {"defaultInputModes": ["text"], "defaultOutputModes": ["text"]}
    for transport in ("JSONRPC", "HTTP+JSON"):
        inline = json.dumps({**card, "preferredTransport": transport})
        name = transport.replace("+", "_")
        yield started_agent(f"card_inline_{name}", f"{front}\nagent_card_json: '{inline}'")
    inline, command = json.dumps(card), f"!sh -c '{target.command}'"
    for name, auth in {
        "key": {"type": "apiKey", "key": command},
        "key_name": {"type": "apiKey", "key": command, "name": "X"},
        "token": {"type": "http", "scheme": "Bearer", "token": command},
        "user": {"type": "http", "scheme": "Basic", "username": command, "password": "x"},
        "password": {"type": "http", "scheme": "Basic", "username": "u", "password": command},
        "value": {"type": "http", "scheme": "Digest", "value": command},
        "google": {"type": "google-credentials"},
    }.items():
        for kind, where in {
            "json": f"agent_card_json: '{inline}'",
            "url": f"agent_card_url: {target.url}/card.json",
        }.items():
            yield started_agent(
                f"auth_{name}_{kind}", f"{front}\n{where}\nauth: {json.dumps(auth)}"
            )


def _settings(target: Target) -> Iterator[Document]:
    folder = str(target.canary.parent)
    texts: dict[str, Any] = {
        "includeDirectories": [folder],
        "policyPaths": [folder],
        "adminPolicyPaths": [folder],
        "workspacePoliciesDir": folder,
        "planSettings": {"directory": folder},
        "telemetry": {"enabled": True, "outfile": f"{folder}/telemetry.log"},
        "gemmaModelRouter": {"enabled": True, "classifier": {"host": target.url, "model": "x"}},
        "userMemory": f"@{target.canary}",
    }
    for name, value in texts.items():
        yield document(f"setting_{name}", session={"settings": {name: value}})
    checkpointing = {"interactive": True, "settings": {"checkpointing": True}}
    yield document("setting_checkpointing", session=checkpointing)
    endpoint = {"enabled": True, "target": "local", "otlpEndpoint": target.url}
    yield document("setting_otlp", session={"settings": {"telemetry": endpoint}})
    for path in ("policyPaths", "adminPolicyPaths"):
        for name, value in {"up": "../../..", "home": "~/..", "root": "/", "etc": "/etc"}.items():
            yield document(f"{path}_{name}", session={"settings": {path: [value]}})


def _web(target: Target) -> Iterator[Document]:
    for direct in (True, False):
        settings = {"settings": {"directWebFetch": direct}}
        for name, url in {
            "loopback": f"{target.url}/x",
            "name": "https://a.invalid/x",
            "public": "https://192.0.46.8/x",
        }.items():
            for key, text in {"prompt": f"read {url}", "url": url}.items():
                made = calling(
                    f"web_{name}_{key}_{direct}".lower(), "web_fetch", {key: text}, session=settings
                )
                failed = {"status": 400, "message": "no"}
                made["model"].insert(1, {"error": failed, "role": "utility_tool", "repeat": 9})
                yield made


def _paths(target: Target) -> Iterator[Document]:
    canary, folder = str(target.canary), str(target.canary.parent)
    up = "../" * 20
    spelled = {
        "absolute": canary,
        "up": f"{up}{canary.lstrip('/')}",
        "dotted": f"./x/../{up}{canary.lstrip('/')}",
        "url": target.canary.as_uri(),
        "proc": f"/proc/self/root{canary}",
        "spaced": f" {canary}",
    }
    for name, path in spelled.items():
        place = str(Path(path).parent) if "://" not in path else path
        yield calling(f"read_{name}", "read_file", {"file_path": path})
        yield calling(f"many_{name}", "read_many_files", {"include": [path]})
        yield calling(f"list_{name}", "list_directory", {"dir_path": place})
        yield calling(f"glob_{name}", "glob", {"pattern": "*", "dir_path": place})
        yield calling(f"glob_pattern_{name}", "glob", {"pattern": path})
        yield calling(f"grep_{name}", "grep_search", {"pattern": "CANARY", "dir_path": place})
        beside = f"{path}.written"
        yield calling(f"write_{name}", "write_file", {"file_path": beside, "content": "x"})
        change = {"instruction": "x", "old_string": "CANARY", "new_string": "x"}
        yield calling(f"replace_{name}", "replace", {"file_path": path, **change})
        imports = {"GEMINI.md": f"@{path}\n"}
        yield document(f"import_{name}", files=imports)
        yield document(f"home_import_{name}", home_files={".gemini/GEMINI.md": f"@{path}\n"})
        yield document(f"file_{name}_key", files={beside: "x"})
        yield document(f"home_file_{name}_key", home_files={beside: "x"})
        yield document(f"script_{name}", script=[{"write_file": {"path": beside, "text": "x"}}])
    skill = f"---\nname: s\ndescription: d\n---\n@{canary}\n"
    yield calling(
        "skill", "activate_skill", {"name": "s"}, files={".gemini/skills/s/SKILL.md": skill}
    )
    yield calling("documents", "get_internal_docs", {"path": f"{up}{canary.lstrip('/')}"})
    yield calling("plan", "exit_plan_mode", {"plan_filename": f"{up}{canary.lstrip('/')}"})
    long = {"truncateToolOutputThreshold": 10}
    for name, call_id in {"up": f"{up}{folder}/x", "absolute": f"{folder}/x"}.items():
        made = document(f"output_{name}", session={"settings": long}, files={"a.txt": "a\n" * 99})
        call = answer(("read_file", {"file_path": "a.txt"}), id=call_id)
        made["model"] = [call, {"text": "done", "repeat": 4}]
        yield made


def _records(target: Target) -> Iterator[Document]:
    folder = str(target.canary.parent)
    away = f"{'../' * 20}{folder.lstrip('/')}/x"
    times = {"startTime": "2026-01-01T00:00:00.000Z", "lastUpdated": "2026-01-01T00:00:00.000Z"}
    for name, session_id in {"up": away, "absolute": f"{folder}/x", "dots": ".."}.items():
        first = {"sessionId": session_id, "projectHash": "<PROJECT_HASH>", **times, "kind": "main"}
        yield document(f"session_id_{name}", resume={"records": [first]})
    plain = {"sessionId": "a", "projectHash": "<PROJECT_HASH>", **times, "kind": "main"}
    for name, file in {"up": f"{away}.jsonl", "absolute": f"{folder}/x.jsonl"}.items():
        yield document(f"record_file_{name}", resume={"records": [plain], "file": file})
    for is_new in (True, False):
        for name, path in {"absolute": str(target.canary), "up": f"<WS>/{away}"}.items():
            yield _rewound(f"rewound_{name}_{is_new}".lower(), plain, path, is_new=is_new)


def _rewound(name: str, first: Document, path: str, *, is_new: bool) -> Document:
    """A cassette that goes back in a recording with an edit of the file at `path`."""
    times = {"timestamp": "2026-01-01T00:00:00.000Z"}
    shown = {
        "fileName": "x",
        "filePath": path,
        "originalContent": "changed",
        "newContent": "",
        "isNewFile": is_new,
        "diffStat": {},
    }
    call = {"id": "c", "name": "write_file", "args": {}, "status": "success", **times}
    user = {"id": "u", "type": "user", "content": [{"text": "go"}], **times}
    answer: Document = {"id": "g", "type": "gemini", "content": "", **times}
    answer["toolCalls"] = [{**call, "resultDisplay": shown}]
    rewind = {"rewind": {"to": "u", "choice": "rewind_and_revert"}}
    return document(name, resume={"records": [first, user, answer]}, script=[rewind])
