"""Calls of tools in a workspace with known files. All commands are harmless."""

from __future__ import annotations

from typing import Final

from harness.scenarios.chooser import Chooser
from services.wire import Json, JsonObject

__all__ = ["FILES", "MID_TOKENS", "SIZED_BY", "function_call"]

FILES: Final[JsonObject] = {
    "a.txt": "alpha\nbeta\n",
    "b.txt": "bravo\n",
    "src/one.py": "def one():\n    return 1\n",
    "big.txt": {"$lines": {"count": 700, "prefix": "big line ", "pad": 60}},
    "mid.txt": {"$lines": {"count": 120, "prefix": "mid line "}},
    "empty.txt": "",
    "blob.bin": {"base64": "AAECAwQFBgcICQoLDA0ODw=="},
    "long.txt": {"$lines": {"count": 2_001, "prefix": ""}},
    "wide.txt": {"$repeat": {"text": "w", "times": 2_001}},
    "dot.png": {
        "base64": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAC"
        "hwGA60e6kgAAAABJRU5ErkJggg=="
    },
}
"""The files of every drawn workspace; shrinking drops unnecessary ones."""

MID_TOKENS: Final = 398
"""Masking's estimate for a response with all of `mid.txt`."""

SIZED_BY: Final = (400, 4_000, 40)
"""Truncation thresholds, in characters, with outputs on both sides."""

_WRAPPED: Final = 74
"""Characters that the shell tool writes around a command's output."""

_PATHS: Final = (
    "a.txt",
    "b.txt",
    "big.txt",
    "mid.txt",
    "src/one.py",
    "empty.txt",
    "blob.bin",
    "long.txt",
    "wide.txt",
    "dot.png",
)
_WRONG_PATHS: Final = (
    "missing.txt",
    "../outside.txt",
    "src",
    "",
    "/etc/hostname",
    "a\x00b",
    "x" * 300,
)
_COMMANDS: Final = (
    "echo hello",
    "cat a.txt",
    "printf 'no newline'",
    "true",
    "false",
    "exit 3",
    "seq 1 40",
    "seq 1 3000",
    "echo out; echo err >&2",
    "ls src",
    "printf 'a\\000b\\377'",
    "head -c 600 blob.bin",
    "cat missing.txt",
    "echo made > made.txt",
    "printf 'caf\\303\\251 \\360\\237\\230\\200\\n'",
    "printf '\\033[31mred\\033[0m\\n'",
    "echo one && echo two | cat",
    "echo $(echo inner)",
    "kill -TERM $$",
    "sleep 0.05; echo slept",
    "echo 'unclosed",
)
_WIDTHS: Final = tuple(
    size - less + step
    for size in SIZED_BY
    for less in (_WRAPPED, 0)
    for step in (0, 1)
    if size > less
)
"""Lengths of outputs that just reach or just exceed a threshold, with and without wrapping."""


def function_call(choose: Chooser) -> JsonObject:
    """A `functionCall`: name, args, sometimes an id."""
    kind = choose.option(
        "tool",
        {
            "read_file": 24,
            "list_directory": 8,
            "run_shell_command": 12,
            "sized": 4,
            "write_file": 6,
            "replace": 6,
            "glob": 3,
            "grep_search": 4,
            "write_todos": 2,
            "google_web_search": 2,
            "ask_user": 1,
            "update_topic": 1,
            "unknown": 3,
            "invalid": 4,
        },
    )
    call: JsonObject = _CALLS[kind](choose)
    if choose.chance("call_id", 150):
        call["id"] = choose.among(("call-1", "call-2", "c", ""))
    return call


def _read(choose: Chooser) -> JsonObject:
    wrong = choose.chance("wrong_path", 100)
    args: JsonObject = {"file_path": choose.among(_WRONG_PATHS if wrong else _PATHS)}
    if choose.chance("line_range", 200):
        args["start_line"] = choose.whole(1, 5)
        args["end_line"] = args["start_line"] + choose.whole(0, 120)
    return _call("read_file", args)


def _list(choose: Chooser) -> JsonObject:
    return _call("list_directory", {"dir_path": choose.among((".", "src", "missing", ".."))})


def _shell(choose: Chooser) -> JsonObject:
    args: JsonObject = {"command": choose.among(_COMMANDS)}
    if choose.chance("described", 300):
        args["description"] = "look at it"
    return _call("run_shell_command", args)


def _sized(choose: Chooser) -> JsonObject:
    return _call("run_shell_command", {"command": f"printf '%0{choose.among(_WIDTHS)}d' 0"})


def _write(choose: Chooser) -> JsonObject:
    path = choose.among(
        ("new.txt", "a.txt", "src/two.py", "deep/er/file.txt", "../outside.txt", "src")
    )
    text = choose.among(("new\n", "", "caf\u00e9\r\n", "x" * 300, "no end", "alpha\nbeta\n"))
    return _call("write_file", {"file_path": path, "content": text})


def _replace(choose: Chooser) -> JsonObject:
    old, new = choose.among(
        (
            ("alpha", "ALPHA"),
            ("beta", ""),
            ("not there", "x"),
            ("a", "b"),
            ("", "x"),
            ("one", "one"),
        )
    )
    args: JsonObject = {
        "file_path": choose.among(("a.txt", "b.txt", "src/one.py", "missing.txt")),
        "instruction": "change it",
        "old_string": old,
        "new_string": new,
    }
    if choose.chance("allow_multiple", 200):
        args["allow_multiple"] = True
    return _call("replace", args)


def _glob(choose: Chooser) -> JsonObject:
    return _call("glob", {"pattern": choose.among(("*.txt", "**/*.py", "none.*", "[", "src/*"))})


def _grep(choose: Chooser) -> JsonObject:
    args: JsonObject = {
        "pattern": choose.among(("alpha", "line 11", "nothing here", "(", "^bravo"))
    }
    if choose.chance("grep_scope", 200):
        args["include_pattern"] = "*.txt"
    return _call("grep_search", args)


def _todos(choose: Chooser) -> JsonObject:
    status = choose.among(("pending", "in_progress", "completed", "nonsense"))
    todos = [{"description": "do it", "status": status}] * choose.among((1, 0, 2))
    return _call("write_todos", {"todos": todos})


def _search_web(choose: Chooser) -> JsonObject:
    return _call("google_web_search", {"query": choose.among(("what is alpha", ""))})


def _ask(choose: Chooser) -> JsonObject:
    question: JsonObject = {"question": "Which?", "header": "Choice"}
    question["type"] = choose.among(("text", "yesno", "choice"))
    if question["type"] == "choice":
        question["options"] = [
            {"label": label, "description": "one of them"} for label in choose.among(("AB", "A"))
        ]
    return _call("ask_user", {"questions": [question]})


def _topic(choose: Chooser) -> JsonObject:
    args: JsonObject = {"title": choose.among(("Looking", "")), "strategic_intent": "find out"}
    return _call("update_topic", args)


def _unknown(choose: Chooser) -> JsonObject:
    names = ("no_such_tool", "read_fil", "Read_File", "mcp_none_tool", "", "toString", "read file")
    name = choose.among(names)
    return _call(name, {"x": 1})


def _invalid(choose: Chooser) -> JsonObject:
    bad: tuple[tuple[str, Json], ...] = (
        ("read_file", {}),
        ("read_file", {"file_path": 3}),
        ("read_file", {"file_path": "a.txt", "start_line": 9, "end_line": 2}),
        ("write_file", {"file_path": "n.txt"}),
        ("run_shell_command", {"command": ""}),
        ("replace", {"file_path": "a.txt", "old_string": "alpha"}),
        ("glob", {"pattern": ""}),
        ("list_directory", {"dir_path": ["."]}),
        ("read_file", None),
        ("read_file", {"file_path": "a.txt", "more": True}),
        ("read_file", {"file_path": None}),
        ("write_file", {"file_path": "n.txt", "content": {"not": "text"}}),
        ("run_shell_command", {"command": "echo x", "is_background": "yes"}),
        ("run_shell_command", {"command": "echo x", "dir_path": "missing"}),
        ("grep_search", {"pattern": "a", "max_matches_per_file": 0}),
        ("write_todos", {"todos": "do it"}),
    )
    return _call(*choose.among(bad))


def _call(name: str, args: Json) -> JsonObject:
    return {"name": name, "args": args}


_CALLS: Final = {
    "read_file": _read,
    "list_directory": _list,
    "run_shell_command": _shell,
    "write_file": _write,
    "replace": _replace,
    "glob": _glob,
    "grep_search": _grep,
    "sized": _sized,
    "write_todos": _todos,
    "google_web_search": _search_web,
    "ask_user": _ask,
    "update_topic": _topic,
    "unknown": _unknown,
    "invalid": _invalid,
}
