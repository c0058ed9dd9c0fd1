"""Cassettes that try to use up time or memory, made by enumeration.

Each bomb is a cassette document as plain data. `bombs()` names them all; `REFUSED` names those that
the loader must refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

__all__ = ["REFUSED", "bombs"]

Document = dict[str, Any]

LINE: Final = "a" * 40_000 + "!\n"
NAMES: Final = {f"{'a' * 200}{n}.txt": "x\n" for n in range(20)}

PATTERNS: Final = {
    "nested_plus": "^(a+)+$",
    "nested_star": "^(a*)*$",
    "same_twice": "^(a|a)*$",
    "one_or_two": "^(a|aa)+$",
    "classes": "^([a-z]+)*$",
    "counted": "(.*a){25}b",
    "optional": "(?:a?){40}a{40}b",
    "back_reference": r"(a+)\1+b",
    "look_ahead": r"^(?=(a+)+$)b|(?=(a|aa)+$)c",
    "look_behind": r"(?<=(a+)+)b",
    "many_stars": "^a*a*a*a*a*a*a*a*a*a*$",
    "lazy": "^(a+?)+?$",
    "named": "^(?<x>a+)+$",
    "written_out": "((((a{1000}){1000}){1000}){1000})",
    "one_repeat": "a{4294967294}",
    "deep": "(" * 5_000 + "a" + ")" * 5_000,
    "alternatives": "|".join(f"w{n}" for n in range(20_000)),
    "long": "(a|b)?" * 50_000,
}
"""Regular expressions that are slow on a line of a's, or large."""

GLOBS: Final = {
    "deep_stars": "**/" * 40 + "x",
    "stars_between": "**/a*/" * 20 + "x",
    "stars_in_name": "*a" * 20 + "*b",
    "braces": "{a,b}" * 25,
    "nested_braces": "{a," * 400 + "b" + "}" * 400,
    "open_braces": "{" * 4_000,
    "range": "{1..999999999}",
    "ranges": "{1..100}" * 6,
    "groups": "+(a|aa)" * 9 + "b",
    "nested_groups": "+(" * 10 + "a" + ")" * 10 + "b",
    "open_groups": "+(" * 40,
    "negated_groups": "!(a)" * 40,
    "long": "*a" * 100_000,
    "machine": "/**/**/**/x",
    "up": "../" * 500 + "**/x",
}
"""Globs that stand for much, or are slow on names of a's."""


def _call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"functionCall": {"name": tool, "args": arguments}}


def _step(*calls: dict[str, Any]) -> dict[str, Any]:
    content = {"role": "model", "parts": list(calls)}
    return {"stream": [{"candidates": [{"content": content, "finishReason": "STOP"}]}]}


def _bomb(*steps: Any, **keys: Any) -> Document:
    """A cassette whose model gives `steps` and then says that it is done."""
    session = {"model": "gemini-2.5-flash", **keys.pop("session", {})}
    usual = {"skipNextSpeakerCheck": True, "disableLoopDetection": True}
    session["settings"] = {**usual, **session.get("settings", {})}
    return {
        "cassette": 1,
        "phase": "A",
        "session": session,
        "script": keys.pop("script", [{"send": "Go on"}]),
        "model": keys.pop("model", [*steps, {"text": "done"}]),
        **keys,
    }


def _patterns() -> Iterator[tuple[str, Document]]:
    files = {"a.txt": LINE, "b.txt": "a " * 20_000 + "!\n"}
    for name, pattern in PATTERNS.items():
        grep = _call("grep_search", pattern=pattern)
        yield f"grep_{name}", _bomb(_step(grep), files=files)
        grep = _call("grep_search", pattern="a", exclude_pattern=pattern)
        yield f"grep_exclude_{name}", _bomb(_step(grep), files=files)
    for name in ("nested_plus", "one_or_two", "written_out", "counted", "back_reference"):
        rule = {
            "toolName": "read_file",
            "decision": "deny",
            "argsPattern": PATTERNS[name].strip("^"),
        }
        read = _call("read_file", file_path="a" * 40_000)
        yield f"rule_{name}", _bomb(_step(read), session={"settings": {"policyRules": [rule] * 5}})
        toml = "[[rule]]\ntoolName = 'read_file'\ndecision = 'deny'\npriority = 9\n"
        toml += f"argsPattern = '{PATTERNS[name]}'\n"
        yield (
            f"policy_file_{name}",
            _bomb(_step(read), home_files={".gemini/policies/p.toml": toml}),
        )


def _globs() -> Iterator[tuple[str, Document]]:
    tree = {f"{'a/' * depth}{'a' * 40}.txt": "x\n" for depth in range(12)}
    for name, glob in GLOBS.items():
        files = {**tree, **NAMES}
        yield f"glob_{name}", _bomb(_step(_call("glob", pattern=glob)), files=files)
        grep = _call("grep_search", pattern="x", include_pattern=glob)
        yield f"include_{name}", _bomb(_step(grep), files=files)
        listed = _call("list_directory", dir_path=".", ignore=[glob])
        yield f"ignore_{name}", _bomb(_step(listed), files=files)
    for name in ("deep_stars", "stars_between", "stars_in_name", "open_groups"):
        for file, git in ((".gitignore", {".git/HEAD": "ref: x\n"}), (".geminiignore", {})):
            files = {**tree, **NAMES, **git, file: f"{GLOBS[name]}\n" * 3}
            yield f"{file[1:]}_{name}", _bomb(_step(_call("glob", pattern="**/*")), files=files)
    lines = "".join(f"x*{n}\n" for n in range(200_000))
    files = {**tree, ".git/HEAD": "ref: x\n", ".gitignore": lines}
    yield "gitignore_lines", _bomb(_step(_call("glob", pattern="**/*")), files=files)


def _memory() -> Iterator[tuple[str, Document]]:
    ten = {
        f"m{level}_{n}.md": "".join(f"@./m{level + 1}_{k}.md\n" for k in range(10)) + "x" * 1_000
        for level in range(6)
        for n in range(10)
    }
    top = "".join(f"@./m0_{n}.md\n" for n in range(10))
    texts = {
        "imports": top,
        "large_imports": "@./large.md\n" * 200,
        "missing_imports": "@./none.md\n" * 300_000,
        "backticks": "`" * 200_000 + "a",
        "broken_code": "".join("`" * n + "a" for n in range(1_000, 0, -1)),
        "itself": "@./GEMINI.md\n" * 1_000,
    }
    for name, text in texts.items():
        files = {**ten, "GEMINI.md": text, "large.md": "x" * 1_000_000}
        yield f"memory_{name}", _bomb(files=files)


def _calls() -> Iterator[tuple[str, Document]]:
    def many(count: int, make: Callable[[int], dict[str, Any]]) -> Document:
        return _bomb(_step(*map(make, range(count))), files={"a.txt": "x\n"})

    yield "calls_unknown", many(20_000, lambda n: _call("no_such_tool", n=n))
    yield (
        "calls_read",
        many(20_000, lambda n: _call("read_file", file_path="a.txt", start_line=1, end_line=n + 1)),
    )
    yield "calls_missing", many(20_000, lambda n: _call("read_file", file_path=f"{n}"))
    same_id = {"functionCall": {"id": "same", "name": "read_file", "args": {"file_path": "a.txt"}}}
    yield "calls_of_one_id", many(5_000, lambda _n: same_id)
    yield "calls_of_long_name", many(3, lambda _n: _call("x" * 1_000_000))
    deep: Any = "x"
    for _ in range(45):
        deep = {"a": deep}
    yield "arguments_deep", many(500, lambda n: _call("read_file", file_path=str(n), more=deep))
    wide = {f"k{n}": n for n in range(200_000)}
    yield "arguments_wide", many(2, lambda _n: _call("read_file", file_path="a.txt", **wide))
    todos = [{"description": str(n), "status": "pending"} for n in range(50_000)]
    yield "arguments_todos", many(3, lambda _n: _call("write_todos", todos=todos))
    looped = _step(_call("read_file", file_path="a.txt"))
    yield "turns", _bomb(model=[{**looped, "repeat": 9_000}, {"text": "done"}], files={"a.txt": ""})


def _answers() -> Iterator[tuple[str, Document]]:
    asks = {
        "write_file": _call("write_file", file_path="b.txt", content="x"),
        "replace": _call(
            "replace", file_path="a.txt", old_string="x", new_string="y", instruction="do"
        ),
        "web_fetch": _call("web_fetch", prompt="http://example.invalid/"),
    }
    for name, call in asks.items():
        for outcome in ("modify_with_editor", "cancel"):
            answers = {"confirmations": [{"outcome": outcome}]}
            session = {"interactive": True}
            asked = _step(*[call] * (1 if outcome == "modify_with_editor" else 200))
            yield (
                f"asked_{name}_{outcome}",
                _bomb(asked, answers=answers, session=session, files={"a.txt": "x\n"}),
            )


def _files() -> Iterator[tuple[str, Document]]:
    lines = "".join(f"line {n % 7} of some text\n" for n in range(20_000))
    old = "".join(f"lime {n % 7} of sme text\n" for n in range(30))
    edit = {"file_path": "a.txt", "new_string": "y", "instruction": "do"}
    yield (
        "replace_nearly",
        _bomb(
            _step(_call("replace", old_string=old, **edit)),
            files={"a.txt": lines},
            session={"approval_mode": "yolo", "settings": {"disableLLMCorrection": True}},
        ),
    )
    yield (
        "replace_spaces",
        _bomb(
            _step(_call("replace", old_string="a " * 5_000 + "b", **edit)),
            files={"a.txt": "a " * 100_000 + "\n" + " " * 500_000},
            session={"approval_mode": "yolo", "settings": {"disableLLMCorrection": True}},
        ),
    )
    yield (
        "read_long_line",
        _bomb(_step(_call("read_file", file_path="a.txt")), files={"a.txt": "x" * 30_000_000}),
    )
    many = {f"d{n % 100}/f{n}.txt": "" for n in range(5_000)}
    yield "list_many", _bomb(_step(_call("glob", pattern="**/*")), files=many)
    write = _call("write_file", file_path="b.txt", content="x\n" * 1_000_000)
    yield (
        "write_large",
        _bomb(
            _step(write, write),
            session={"approval_mode": "yolo"},
            files={"b.txt": "y\n" * 1_000_000},
        ),
    )
    front = "---\nname: x\ndescription: y\n"
    aliases = "".join(f"k{n + 1}: &a{n + 1} [{', '.join([f'*a{n}'] * 10)}]\n" for n in range(9))
    heads = {
        "aliases": f"{front}k0: &a0 [x]\n{aliases}",
        "deep": f"{front}k: {'[' * 5_000}{']' * 5_000}\n",
        "long": front + "".join(f"k{n}: {n}\n" for n in range(100_000)),
        "spaces": front + " " * 200_000 + "\n" * 50_000,
    }
    for name, head in heads.items():
        yield f"agent_{name}", _bomb(files={".gemini/agents/x.md": f"{head}---\nGo.\n"})
        yield f"skill_{name}", _bomb(files={".gemini/skills/x/SKILL.md": f"{head}---\nGo.\n"})
    rules = "[[rule]]\ntoolName = 'read_file'\ndecision = 'ask_user'\npriority = 1\n" * 20_000
    read = _step(_call("read_file", file_path="a.txt"))
    yield "policy_rules", _bomb(read, home_files={".gemini/policies/p.toml": rules})
    toml = "x = " + "[" * 50_000
    yield "policy_deep", _bomb(read, home_files={".gemini/policies/p.toml": toml})


def _settings() -> Iterator[tuple[str, Document]]:
    def aliases(count: int, last: str) -> Document:
        chain = {f"a{n}": {"extends": f"a{n + 1}"} for n in range(count)}
        chain[f"a{count}"] = {"extends": last}
        config = {"customAliases": chain}
        return _bomb(session={"model": "a0", "settings": {"modelConfigServiceConfig": config}})

    yield "aliases_cycle", aliases(3, "a0")
    yield "aliases_chain", aliases(20_000, "base")
    deep: Any = {}
    for _ in range(45):
        deep = {"a": deep}
    yield "settings_deep", _bomb(session={"settings": {"experiments": deep}})
    limits = {"maxSessionTurns": 10**15, "maxAttempts": 10**15}
    error = {"error": {"status": 503, "message": "busy"}, "repeat": 9_000}
    yield "attempts", _bomb(model=[error], session={"settings": limits})
    memory = {"userMemory": "@a `" * 2_000_000}
    yield "settings_memory", _bomb(session={"settings": memory})


def _records() -> Iterator[tuple[str, Document]]:
    head = {
        "sessionId": "12345678-1111-4222-8333-444444444444",
        "projectHash": "<PROJECT_HASH>",
        "startTime": "2026-01-01T00:00:00.000Z",
        "lastUpdated": "2026-01-01T00:00:00.000Z",
        "kind": "main",
    }

    def said(number: int, text: str = "x") -> dict[str, Any]:
        kind = "user" if number % 2 == 0 else "gemini"
        return {"id": f"m{number}", "timestamp": head["startTime"], "type": kind, "content": text}

    def resumed(*records: Any) -> Document:
        return _bomb(resume={"records": [head, *records]})

    yield "resume_many", resumed(*map(said, range(20_000)))
    yield "resume_large", resumed(*(said(number, "x" * 100_000) for number in range(200)))
    there_and_back = [record for n in range(3_000) for record in (said(n), {"$rewindTo": "m0"})]
    yield "resume_rewinds", resumed(*there_and_back)
    yield (
        "resume_unknown_rewinds",
        resumed(*map(said, range(3_000)), *[{"$rewindTo": "no"}] * 3_000),
    )
    whole = {"messages": [said(n) for n in range(2_000)]}
    yield "resume_sets", resumed(*[{"$set": whole}] * 50)
    call = {"id": "same", "name": "read_file", "args": {}, "status": "success", "result": []}
    called = {**said(1), "toolCalls": [call] * 20_000}
    yield "resume_calls", resumed(said(0), called)


def _streams() -> Iterator[tuple[str, Document]]:
    text = {"stream": [{"candidates": [{"content": {"role": "model", "parts": [{"text": "x"}]}}]}]}
    usage = {"promptTokenCount": 2**53 - 1, "candidatesTokenCount": 2**53 - 1}
    yield "usage", _bomb(model=[{"stream": [{**text["stream"][0], "usageMetadata": usage}]}])
    large = {"$repeat": {"text": "x", "times": 30_000_000}}
    yield "answer_large", _bomb(model=[{"text": large}])
    chunk = {"candidates": [{"content": {"role": "model", "parts": [{"text": "word "}]}}]}
    yield "answer_chunks", _bomb(model=[{"stream": [{"$times": 100_000, "item": chunk}]}])
    parts = [{"text": "x"} if n % 2 else {"text": "y", "thought": True} for n in range(50_000)]
    content = {"role": "model", "parts": parts}
    yield "answer_parts", _bomb(model=[{"stream": [{"candidates": [{"content": content}]}]}])
    yield "answer_ticks", _bomb(model=[{"text": "`" * 500_000 + "\n" + "* " * 500_000}])
    yield "answer_same", _bomb(model=[{"text": "abcdefghij" * 500_000}])
    watched = {"session": {"settings": {"disableLoopDetection": False}}}
    yield "answer_watched", _bomb(model=[{"text": "abcdefghij" * 500_000}], **watched)
    marks = "|" + "a" * 5_000 + "\n"
    yield "answer_marks", _bomb(model=[{"text": marks * 200 + "<!--" * 100_000}], **watched)
    yield "delays", _bomb(model=[{"text": "x", "delay_ms": 9e11}])
    yield "hang", _bomb(model=[{"hang": True}])
    sends = [{"send": f"message {n}"} for n in range(2_000)]
    yield "sends", _bomb(model=[{"text": "x", "repeat": 2_000}], script=sends)
    during = [{"when": {"events": n + 1}, "do": {"send": "more"}} for n in range(2_000)]
    yield "during", _bomb(model=[{"text": "x", "repeat": 2_001}], during=during)
    rewinds = [
        action for n in range(500) for action in ({"send": f"{n}"}, {"rewind": {"to": "last"}})
    ]
    yield "rewinds", _bomb(model=[{"text": "x", "repeat": 500}], script=rewinds)
    again = [action for n in range(100) for action in ({"send": f"{n}"}, {"resume_self": True})]
    yield "resumes", _bomb(model=[{"text": "x" * 10_000, "repeat": 100}], script=again)
    quota = {"error": {"status": 429, "message": "Please retry in 999999999s"}, "repeat": 9_000}
    yield "quota", _bomb(model=[quota])
    yield "prompt_large", _bomb(script=[{"send": "@x " * 5_000_000}])
    links = " ".join(f"http://h{n}.invalid/" for n in range(20_000))
    fetch = _call("web_fetch", prompt=links)
    yield "links", _bomb(_step(fetch), session={"approval_mode": "yolo"})


def _refused() -> Iterator[tuple[str, Document]]:
    deep: Any = {}
    for _ in range(80):
        deep = {"a": deep}
    yield "refused_depth", _bomb(_step(_call("read_file", file_path="a", more=deep)))
    yield "refused_steps", _bomb(model=[{"text": "x", "repeat": 20_000}])
    yield "refused_text", _bomb(model=[{"text": {"$repeat": {"text": "x", "times": 10**10}}}])
    nested: Any = {"text": "x"}
    for _ in range(8):
        nested = {"$times": 1_000, "item": nested}
    yield "refused_items", _bomb(model=[{"stream": [nested]}])
    yield "refused_lines", _bomb(files={"a": {"$lines": {"count": 10**10, "prefix": "x"}}})
    yield "refused_number", _bomb(session={"settings": {"maxSessionTurns": 1e400}})
    yield "refused_delay", _bomb(model=[{"text": "x", "delay_ms": 10**300}])


REFUSED: Final = frozenset(name for name, _ in _refused())


def bombs() -> dict[str, Document]:
    """Name of a bomb → its cassette, which is to lie in `bombs/NAME.yaml`."""
    families = (
        _patterns,
        _globs,
        _memory,
        _calls,
        _answers,
        _files,
        _settings,
        _records,
        _streams,
        _refused,
    )
    return {
        name: {**document, "name": f"bombs/{name}"}
        for family in families
        for name, document in family()
    }
