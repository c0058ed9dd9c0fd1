from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from agent_protocol.agent import ActionSend, MessageSend, UpdateSend
from agent_protocol.content import MediaPart, ReferencePart, TextPart, ThoughtPart
from harness.cassette.find import find_cassettes
from harness.cassette.format import (
    Abort,
    AfterChunk,
    AfterEvents,
    AtEventType,
    AtRequest,
    AtTool,
    Compress,
    Hint,
    NoteQuotaError,
    Reset,
    ResumeSelf,
    Rewind,
    Send,
    SetApprovalMode,
    SetModel,
    WriteFile,
)
from harness.cassette.load import load_cassette
from harness.cassette.macros import Paths
from harness.errors import CassetteError, CassetteFormatError, CassetteNotFound, HarnessError
from services.state import ApprovalMode

ORACLE = Path(__file__).parents[3] / ".." / "shared" / "oracle" / "cassettes"

HEAD = "cassette: 1\nname: f/c\n"
SMALL = HEAD + "session: {model: m}\nscript: [{send: x}]\nmodel: [{text: hi}]\n"


def write(folder, text, name="f/c.yaml"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(text, bytes):
        path.write_bytes(text)
    else:
        path.write_text(text, encoding="utf-8")
    return path


def load(folder, text, name="f/c.yaml"):
    return load_cassette(write(folder, text, name), folder)


def refused(folder, text, name="f/c.yaml"):
    path = write(folder, text, name)
    with pytest.raises(CassetteError) as caught:
        load_cassette(path, folder)
    error = caught.value
    assert str(error).startswith(str(path))
    assert error.file == path
    assert error.problem
    assert error.mend
    assert "\n" not in str(error)
    assert isinstance(error, HarnessError)
    assert error.exit_code == 2
    return error


def test_the_smallest_cassette_has_the_defaults(tmp_path):
    cassette = load(tmp_path, SMALL)
    assert cassette.name == "f/c"
    assert cassette.family == "f"
    assert cassette.root == tmp_path
    assert cassette.session.model == "m"
    assert cassette.session.approval_mode is ApprovalMode.DEFAULT
    assert not cassette.session.interactive
    assert cassette.match == "in_order"
    assert cassette.script == (Send(MessageSend(content=(TextPart(text="x"),))),)
    assert len(cassette.steps) == 1
    assert cassette.needs() == frozenset()
    assert cassette.phase is None


def test_json_is_a_cassette_too(tmp_path):
    text = (
        '{"cassette": 1, "name": "f/c", "session": {"model": "m"}, '
        '"script": [{"send": "\\ud83d\\ude00"}], "model": []}'
    )
    for name in ("f/c.json", "f/c.yaml"):
        payload = load(tmp_path, text, name).script[0].payload
        assert payload.content[0].text == "\N{GRINNING FACE}"


def test_flow_yaml_that_is_not_json_is_read_as_yaml(tmp_path):
    text = "{cassette: 1, name: f/c, session: {model: m}, script: [], model: []}"
    assert load(tmp_path, text).script == ()


def test_every_key_is_read(tmp_path):
    cassette = load(
        tmp_path,
        HEAD
        + """
note: a note
phase: C
contract: [A-1, B-2]
provenance: {kind: recorded, source: s, recorded_at: 2026-01-02, licence: MIT, seed: 7}
session:
  model: m
  approval_mode: auto_edit
  interactive: true
  new_session_per_send: true
  settings: {maxSessionTurns: 3, adk: {runtimeEnabled: true}}
files: {a/b.txt: text, c.bin: {base64: "AAEC"}}
home_files: {.gemini/x: y}
resume: {records: [{$rewindTo: u}], file: session-1.jsonl}
script:
- send: {content: [{type: text, text: t}], display_content: d}
- compress: true
- reset: true
- resume_self: true
- set_model: {model: n}
- set_model: n
- set_approval_mode: {mode: plan}
- set_approval_mode: yolo
- hint: {text: h, source: background_completion}
- hint: {text: h}
- write_file: {path: <WS>/d/e, text: w}
- quota_error: true
- rewind: {to: u1}
- rewind: {to: 2}
- send: {update: {title: t, config: {a: 1}}}
- send: {action: {type: a, data: [1]}}
during:
- {when: {events: 4}, do: abort}
- {when: {type: usage}, delay_ms: 5, do: {hint: {text: h}}}
- {when: {tool: read_file}, do: {set_approval_mode: {mode: default}}}
- {when: {request: 0}, do: {send: again}}
- {when: {chunk: "1:2"}, do: abort}
answers:
  confirmations:
  - proceed_once
  - {outcome: modify_with_editor, payload: {newContent: n}, delay_ms: 2.5}
  fallback: [retry_once, stop]
match: by_role
model:
- text: a
  repeat: 3
unused: [1, 2]
""",
    )
    assert cassette.contract == ("A-1", "B-2")
    assert cassette.provenance.recorded_at == "2026-01-02"
    assert cassette.provenance.seed == 7
    assert cassette.session.approval_mode is ApprovalMode.AUTO_EDIT
    assert cassette.session.interactive
    assert cassette.session.new_session_per_send
    assert cassette.files == {"a/b.txt": "text", "c.bin": b"\0\1\2"}
    assert cassette.home_files == {".gemini/x": "y"}
    assert cassette.resume.records == ({"$rewindTo": "u"},)
    assert cassette.resume.file == "session-1.jsonl"
    assert cassette.script[0].payload.display_content == "d"
    assert cassette.script[1:14] == (
        Compress(),
        Reset(),
        ResumeSelf(),
        SetModel("n"),
        SetModel("n"),
        SetApprovalMode(ApprovalMode.PLAN),
        SetApprovalMode(ApprovalMode.YOLO),
        Hint("h", "background_completion"),
        Hint("h", "user_steering"),
        WriteFile("d/e", "w"),
        NoteQuotaError(),
        Rewind("u1"),
        Rewind(2),
    )
    assert cassette.script[14] == Send(UpdateSend(title="t", config={"a": 1}))
    assert cassette.script[15] == Send(ActionSend(type="a", data=[1]))
    assert [moment.when for moment in cassette.during] == [
        AfterEvents(4),
        AtEventType("usage"),
        AtTool("read_file"),
        AtRequest(0),
        AfterChunk(1, 2),
    ]
    assert cassette.during[0].do == Abort()
    assert cassette.during[1].delay_ms == 5
    assert cassette.during[2].do == SetApprovalMode(ApprovalMode.DEFAULT)
    assert [answer.outcome.value for answer in cassette.answers.confirmations] == [
        "proceed_once",
        "modify_with_editor",
    ]
    assert cassette.answers.confirmations[1].payload == {"newContent": "n"}
    assert [answer.delay_ms for answer in cassette.answers.confirmations] == [0, 2.5]
    assert cassette.answers.fallback == ("retry_once", "stop")
    assert cassette.match == "by_role"
    assert [step.index for step in cassette.steps] == [0, 1, 2]
    assert cassette.unused == (1, 2)
    assert cassette.needs() == {
        "compression",
        "confirmations",
        "fallback_handler",
        "interactive",
        "reset",
        "resume",
        "rewind",
        "steering",
    }


def test_every_kind_of_content_part_is_read(tmp_path):
    parts = (
        "[{type: text, text: t}, {type: thought, thought: th, thoughtSignature: s}, "
        "{type: media, data: AA==, mimeType: image/png}, {type: reference, text: r, uri: u}]"
    )
    text = SMALL.replace("{send: x}", f"{{send: {{content: {parts}}}}}")
    assert load(tmp_path, text).script[0].payload.content == (
        TextPart(text="t"),
        ThoughtPart(thought="th", thought_signature="s"),
        MediaPart(data="AA==", mime_type="image/png"),
        ReferencePart(text="r", uri="u"),
    )


def test_keys_and_dates_stay_text(tmp_path):
    call = "{functionCall: {name: f, args: {y: 1, 2: b, at: 2026-01-01, on: yes}}}"
    cassette = load(
        tmp_path,
        SMALL.replace(
            "{text: hi}", f"{{stream: [{{candidates: [{{content: {{parts: [{call}]}}}}]}}]}}"
        ),
    )
    part = cassette.steps[0].chunks[0]["candidates"][0]["content"]["parts"][0]
    assert part["functionCall"]["args"] == {"y": 1, "2": "b", "at": "2026-01-01", "on": True}


def test_placeholders_are_filled_in_for_a_run(tmp_path):
    cassette = load(
        tmp_path,
        HEAD
        + """
session: {model: m, settings: {userMemory: <HOME>/x}}
files: {a.txt: "<WS> <PROJECT_HASH> <other>"}
resume: {records: [{projectHash: <PROJECT_HASH>}]}
script: [{send: "see <CASSETTES>"}]
model: [{text: <PYTHON>}, {text: plain}]
""",
    )
    paths = Paths(workspace=Path("/w"), home=Path("/h"), cassettes=Path("/c"), python=Path("/p"))
    bound = cassette.bind(paths)
    digest = hashlib.sha256(b"/w").hexdigest()
    assert bound.resume.records == ({"projectHash": digest},)
    assert bound.files["a.txt"] == f"/w {digest} <other>"
    assert bound.session.settings == {"userMemory": "/h/x"}
    assert bound.script[0].payload.content[0].text == "see /c"
    assert bound.steps[0].chunks[0]["candidates"][0]["content"]["parts"][0]["text"] == "/p"
    assert bound.steps[1] is cassette.steps[1]
    assert cassette.files["a.txt"].startswith("<WS>")


def test_binding_without_placeholders_changes_nothing(tmp_path):
    cassette = load(tmp_path, SMALL)
    paths = Paths(workspace=Path("/w"), home=Path("/h"), cassettes=Path("/c"))
    assert cassette.bind(paths) is cassette


def test_the_root_is_the_path_less_the_name(tmp_path):
    path = write(tmp_path, SMALL, "deep/er/f/c.yaml")
    assert load_cassette(path).root == tmp_path / "deep" / "er"
    assert load_cassette(path, tmp_path / "deep" / "er" / "f").name == "f/c"


def test_bad_yaml_is_told_with_its_line(tmp_path):
    error = refused(tmp_path, SMALL + "note: a: b\n")
    assert "line 6" in error.problem


def test_bad_json_is_told_with_its_line(tmp_path):
    error = refused(tmp_path, '{\n"cassette": 1,,\n}', "f/c.json")
    assert "line 2" in error.problem
    assert "not JSON" in error.problem


def test_a_name_that_is_not_the_path_is_refused(tmp_path):
    error = refused(tmp_path, SMALL.replace("f/c", "f/other"))
    assert error.key == "name"
    assert "'f/c'" in error.problem


@pytest.mark.parametrize("version", ["2", "'1'", "true", "null"])
def test_another_version_names_the_versions_that_are_read(tmp_path, version):
    error = refused(tmp_path, SMALL.replace("cassette: 1", f"cassette: {version}"))
    assert error.key == "cassette"
    assert "(1)" in error.problem


def test_a_duplicate_key_is_refused_in_yaml_and_json(tmp_path):
    assert refused(tmp_path, SMALL + "model: []\n").key == "model"
    nested = SMALL.replace("{model: m}", "{model: m, model: n}")
    assert refused(tmp_path, nested).key == "session.model"
    assert "twice" in refused(tmp_path, '{"cassette": 1, "cassette": 1}', "f/c.json").problem


@pytest.mark.parametrize(
    "text",
    [
        SMALL.replace("[{text: hi}]", "[&a {text: hi}, *a]"),
        SMALL.replace("name: f/c", "name: &n f/c"),
        "&a [*a]",
    ],
)
def test_anchors_and_aliases_are_refused(tmp_path, text):
    error = refused(tmp_path, text)
    assert "anchors and aliases" in error.problem
    assert "line " in error.problem


@pytest.mark.parametrize("tag", ["!!python/object/apply:os.system [ls]", "!x y", "!!binary AA=="])
def test_tags_are_refused(tmp_path, tag):
    error = refused(tmp_path, SMALL.replace("send: x", f"send: {tag}"))
    assert "not allowed" in error.problem
    assert error.key == "script[0].send"


def test_a_second_document_is_refused(tmp_path):
    assert "second document" in refused(tmp_path, SMALL + "---\na: 1\n").problem


@pytest.mark.parametrize("text", ["", "  \n", "\ufeff"])
def test_an_empty_file_is_refused(tmp_path, text):
    assert "empty" in refused(tmp_path, text).problem


@pytest.mark.parametrize("text", ["just text", "[1, 2]", "version: 1\ninteractions: []", "null"])
def test_what_is_no_cassette_is_refused(tmp_path, text):
    error = refused(tmp_path, text)
    assert error.key == "cassette"
    assert "is not a cassette" in error.problem


def test_text_that_is_not_utf8_is_refused(tmp_path):
    error = refused(tmp_path, SMALL.encode() + b"# \xff\n")
    assert f"byte {len(SMALL) + 2} is 0xff" in error.problem


def test_a_control_character_is_refused(tmp_path):
    assert "not YAML" in refused(tmp_path, SMALL + "note: \x00\n").problem


def test_a_number_that_json_does_not_have_is_refused(tmp_path):
    assert refused(tmp_path, SMALL.replace("send: x", "send: .nan")).key == "script[0].send"
    assert (
        refused(tmp_path, SMALL.replace("send: x", "send: " + "9" * 5000)).key == "script[0].send"
    )
    for tagged in ('!!int ""', "!!int x", "!!bool x", "!!float x"):
        assert (
            refused(tmp_path, SMALL.replace("send: x", f"send: {tagged}")).key == "script[0].send"
        )
    text = SMALL.replace("hi}", "hi, delay_ms: .inf}")
    assert refused(tmp_path, text).key == "model[0].delay_ms"
    assert "NaN" in refused(tmp_path, '{"cassette": NaN}', "f/c.json").problem


def test_half_a_surrogate_pair_is_refused(tmp_path):
    text = '{"cassette": 1, "name": "f/c", "script": [{"send": "\\ud800"}], "model": []}'
    assert refused(tmp_path, text, "f/c.json").key == "script[0].send"


def test_a_list_as_a_key_is_refused(tmp_path):
    assert "key must be text" in refused(tmp_path, SMALL + "? [a]\n: b\n").problem


def test_a_file_of_100_mb_is_refused_unread(tmp_path):
    path = write(tmp_path, SMALL)
    os.truncate(path, 100 * 1024 * 1024)
    with pytest.raises(CassetteFormatError, match="larger than 64 MB"):
        load_cassette(path)


def test_what_is_no_regular_file_is_refused(tmp_path):
    path = tmp_path / "pipe.yaml"
    os.mkfifo(path)
    with pytest.raises(CassetteFormatError, match="not a regular file"):
        load_cassette(path)


@pytest.mark.parametrize(
    "text",
    [
        SMALL.replace("{text: hi}", "{text: {$repeat: {text: 0123456789, times: 10000000}}}"),
        SMALL.replace("{text: hi}", "{text: {$lines: {count: 10000000}}}"),
        SMALL.replace("{text: hi}", "{text: {$lines: {count: 1000, pad: 100000}}}"),
        SMALL + "files: {a: {$repeat: {text: '', sep: 0123456789, times: 10000000}}}",
        SMALL + "files: {a: {$repeat: {text: <WS>, times: 1000000}}}",
        SMALL.replace("{text: hi}", "{text: {$repeat: {text: x, times: 100000}}, repeat: 1000}"),
        SMALL.replace(
            "{text: hi}",
            "{json: [{$times: 1000, item: [{$times: 1000, item: [{$times: 1000, item: 1}]}]}]}",
        ),
        SMALL.replace("{text: hi}", "{json: [{$times: 3000000, item: ''}]}"),
    ],
)
def test_what_expands_to_too_much_is_refused_before_it_is_built(tmp_path, text):
    assert "expands to" in refused(tmp_path, text).problem


@pytest.mark.parametrize(
    "text",
    [
        SMALL.replace("{text: hi}", "{text: hi, repeat: 10001}"),
        SMALL.replace("{text: hi}", "{$times: 101, item: {text: hi, repeat: 100}}"),
        SMALL.replace("{send: x}", "{$times: 20000, item: {send: x}}"),
    ],
)
def test_too_many_steps_are_refused(tmp_path, text):
    error = refused(tmp_path, text)
    assert error.key in ("model", "script")
    assert "more than 10,000" in error.problem


def test_ten_thousand_steps_are_not_too_many(tmp_path):
    text = SMALL.replace("{text: hi}", "{$times: 100, item: {text: hi <I>, repeat: 100}}")
    steps = load(tmp_path, text).steps
    assert len(steps) == 10_000
    assert steps[-1].chunks[0]["candidates"][0]["content"]["parts"] == [{"text": "hi 99"}]


@pytest.mark.parametrize("name", ["f/c.yaml", "f/c.json"])
@pytest.mark.parametrize("brackets", ["[]", "{}"])
def test_what_is_nested_too_deep_is_refused(tmp_path, name, brackets):
    opening = brackets[0] if brackets == "[]" else '{"a":'
    text = opening * 100_000 + "1" + brackets[1] * 100_000
    assert "deeper than 64" in refused(tmp_path, text, name).problem


def test_sixty_four_levels_are_not_too_deep(tmp_path):
    args = "[" * 60 + "]" * 60
    assert load(tmp_path, SMALL.replace("{text: hi}", f"{{json: {args}}}")).steps
    args = "[" * 62 + "]" * 62
    assert "deeper" in refused(tmp_path, SMALL.replace("{text: hi}", f"{{json: {args}}}")).problem


def test_too_many_values_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("harness.cassette.document.MAX_VALUES", 100)
    many = "[" + "1," * 200 + "1]"
    assert "more than 100 values" in refused(tmp_path, f"a: {many}").problem
    assert "more than 100 values" in refused(tmp_path, many, "f/c.json").problem


@pytest.mark.parametrize("missing", ["name", "session", "script", "model"])
def test_a_missing_key_is_named(tmp_path, missing):
    lines = [line for line in SMALL.splitlines() if not line.startswith(missing)]
    error = refused(tmp_path, "\n".join(lines))
    assert error.key == missing
    assert "missing" in error.problem


@pytest.mark.parametrize(
    ("change", "key", "words"),
    [
        ("modell: []", "modell", "did you mean model?"),
        ("extra: 1", "extra", "use one of"),
        ("note: 5", "note", "must be text"),
        ("phase: D", "phase", "one of A, B, C"),
        ("contract: x", "contract", "must be a list"),
        ("contract: [1]", "contract[0]", "must be text"),
        ("provenance: {kind: made}", "provenance.kind", "authored"),
        ("provenance: {by: me}", "provenance.by", "unknown key"),
        ("match: any", "match", "in_order, by_role"),
        ("unused: [1]", "unused[0]", "there is no step 1"),
        ("unused: [-1]", "unused[0]", "whole number"),
        ("files: []", "files", "must be a mapping"),
        ("files: {a: 5}", "files.a", "must be text or"),
        ("files: {a: {base65: x}}", "files.a.base65", "did you mean base64"),
        ("files: {a: {base64: '?'}}", "files.a.base64", "is not base64"),
        ("files: {/etc/passwd: x}", "files./etc/passwd", "is absolute"),
        ("files: {~/x: x}", "files.~/x", "is absolute"),
        ("files: {'C:/x': x}", "files.C:/x", "is absolute"),
        ("files: {a/../../b: x}", "files.a/../../b", "leads out"),
        ("files: {'..\\x': x}", "files...\\x", "character"),
        ("files: {./a: x}", "files../a", "plain path"),
        ("files: {'': x}", "files.", "plain path"),
        ("files: {a: x, a/b: y}", "files.a", "folder of 'a/b'"),
        ("home_files: {../x: x}", "home_files.../x", "leads out"),
        ("resume: {records: x}", "resume.records", "must be a list"),
        ("resume: {records: [x]}", "resume.records[0]", "must be a mapping"),
        ("resume: {file: x}", "resume.records", "is missing"),
        ("resume: {records: [], file: ../x}", "resume.file", "leads out"),
        ("resume: {records: [], file: a/x}", "resume.file", "plain name"),
        ("during: {}", "during", "must be a list"),
        ("during: [{do: abort}]", "during[0].when", "is missing"),
        ("during: [{when: {events: 1}}]", "during[0].do", "is missing"),
        ("during: [{when: {events: 0}, do: abort}]", "during[0].when.events", "from 1"),
        ("during: [{when: {event: 1}, do: abort}]", "during[0].when.event", "events"),
        ("during: [{when: {type: txt}, do: abort}]", "during[0].when.type", "not an event"),
        ("during: [{when: {chunk: 1}, do: abort}]", "during[0].when.chunk", "must be text"),
        ("during: [{when: {chunk: '1'}, do: abort}]", "during[0].when.chunk", "R:C"),
        ("during: [{when: {request: 1}, do: stop}]", "during[0].do", "unknown"),
        ("during: [{when: {request: 1}, do: {reset: true}}]", "during[0].do.reset", "unknown key"),
        (
            "during: [{when: {request: 1}, do: abort, delay_ms: x}]",
            "during[0].delay_ms",
            "milliseconds",
        ),
        ("answers: {confirmations: [maybe]}", "answers.confirmations[0].outcome", "proceed_once"),
        (
            "answers: {confirmations: [{outcome: cancel, delay: 1}]}",
            "answers.confirmations[0].delay",
            "did you mean delay_ms",
        ),
        *(
            (
                f"answers: {{confirmations: [cancel, {{outcome: cancel, delay_ms: {delay}}}]}}",
                "answers.confirmations[1].delay_ms",
                words,
            )
            for delay, words in (
                ("x", "must be milliseconds, 0 or more, not 'x'"),
                ("true", "not True"),
                ("null", "not nothing"),
                ("-1", "not -1"),
                ("1000000000001", "thirty years; wait less"),
            )
        ),
        ("answers: {fallback: [never]}", "answers.fallback[0]", "not an intent"),
        ("answers: {other: []}", "answers.other", "unknown key"),
    ],
)
def test_what_is_wrong_is_named_with_its_key(tmp_path, change, key, words):
    error = refused(tmp_path, SMALL + change + "\n")
    assert error.key == key
    assert words in str(error)


@pytest.mark.parametrize(
    ("action", "key", "words"),
    [
        ("x", "script[0]", "must be a mapping"),
        ("{}", "script[0]", "one key"),
        ("{sent: x}", "script[0].sent", "did you mean send"),
        ("{send: 5}", "script[0].send", "must be a mapping"),
        ("{send: {text: x}}", "script[0].send.text", "unknown key"),
        ("{send: {display_content: x}}", "script[0].send.content", "is missing"),
        ("{send: {content: [x]}}", "script[0].send.content[0]", "content part"),
        ("{send: {content: [{type: text}]}}", "script[0].send.content[0].text", "is missing"),
        ("{compress: false}", "script[0].compress", "must be true"),
        ("{set_model: 5}", "script[0].set_model", "must be a mapping"),
        ("{set_approval_mode: {mode: x}}", "script[0].set_approval_mode.mode", "auto_edit"),
        ("{hint: {text: h, source: me}}", "script[0].hint.source", "user_steering"),
        ("{write_file: {path: ../x, text: t}}", "script[0].write_file.path", "leads out"),
        ("{write_file: {path: <HOME>/x, text: t}}", "script[0].write_file.path", "placeholder"),
        ("{write_file: {path: x}}", "script[0].write_file.text", "is missing"),
        ("{rewind: {to: -1}}", "script[0].rewind.to", "whole number"),
    ],
)
def test_a_wrong_action_is_named_with_its_key(tmp_path, action, key, words):
    error = refused(tmp_path, SMALL.replace("{send: x}", action))
    assert error.key == key
    assert words in str(error)


@pytest.mark.parametrize(
    ("session", "key", "words"),
    [
        ("x", "session", "must be a mapping"),
        ("{}", "session.model", "is missing"),
        ("{model: ''}", "session.model", "is empty"),
        ("{model: m, mode: x}", "session.mode", "model"),
        ("{model: m, approval_mode: autoEdit}", "session.approval_mode", "auto_edit"),
        ("{model: m, interactive: 'no'}", "session.interactive", "true or false"),
    ],
)
def test_a_wrong_session_is_named_with_its_key(tmp_path, session, key, words):
    error = refused(tmp_path, SMALL.replace("{model: m}", session))
    assert error.key == key
    assert words in str(error)


@pytest.mark.parametrize(
    ("settings", "key", "words"),
    [
        ("{maxSessionTurn: 1}", "maxSessionTurn", "did you mean maxSessionTurns?"),
        ("{maxSessionTurns: x}", "maxSessionTurns", "whole number"),
        ("{maxSessionTurns: true}", "maxSessionTurns", "whole number"),
        ("{compressionThreshold: x}", "compressionThreshold", "must be a number"),
        ("{coreTools: x}", "coreTools", "list of text"),
        ("{hooks: {Before: []}}", "hooks.Before", "unknown hook event"),
        ("{hooks: {BeforeTool: {}}}", "hooks.BeforeTool", "must be a list"),
        ("{hooks: {BeforeTool: [{}]}}", "hooks.BeforeTool[0].hooks", "must be a list"),
        ("{mcpServers: {a: x}}", "mcpServers.a", "must be a mapping"),
        ("{adk: {enabled: true}}", "adk.enabled", "unknown key"),
        ("{adk: {runtimeEnabled: 1}}", "adk.runtimeEnabled", "boolean"),
        ("{contextManagement: {tool: {}}}", "contextManagement.tool", "did you mean tools?"),
        (
            "{contextManagement: {tools: {outputMasking: []}}}",
            "contextManagement.tools.outputMasking",
            "must be a mapping",
        ),
        (
            "{contextManagement: {tools: {outputMasking: {protectLatestTurn: 1}}}}",
            "contextManagement.tools.outputMasking.protectLatestTurn",
            "must be a boolean",
        ),
        ("{policyRules: [{decision: maybe}]}", "policyRules[0].decision", "allow"),
        ("{policyRules: [{decision: deny, tool: x}]}", "policyRules[0].tool", "toolName"),
        ("{policyRules: [{decision: deny, priority: x}]}", "policyRules[0].priority", "number"),
        (
            "{policyRules: [{decision: deny, argsPattern: '('}]}",
            "policyRules[0].argsPattern",
            "regular expression",
        ),
        (
            "{policyRules: [{decision: deny, argsPattern: 'a{99999999999}'}]}",
            "policyRules[0].argsPattern",
            "regular expression",
        ),
    ],
)
def test_a_wrong_setting_is_named_with_its_key(tmp_path, settings, key, words):
    session = f"{{model: m, settings: {settings}}}"
    error = refused(tmp_path, SMALL.replace("{model: m}", session))
    assert error.key == f"session.settings.{key}"
    assert words in str(error)


def test_a_wrong_step_is_named_with_its_key(tmp_path):
    error = refused(tmp_path, SMALL.replace("{text: hi}", "{text: hi}, {text: a, rolle: main}"))
    assert error.key == "model[1].rolle"


def test_a_missing_file_is_not_found(tmp_path):
    with pytest.raises(CassetteNotFound, match="cannot be read"):
        load_cassette(tmp_path / "no.yaml")


@pytest.mark.skipif(not ORACLE.is_dir(), reason="the shared oracle is not at hand")
def test_every_cassette_of_the_oracle_loads():
    files = find_cassettes([ORACLE])
    assert files
    for file in files:
        cassette = load_cassette(file.path, file.root)
        assert cassette.name == file.name
        assert cassette.phase in ("A", "B", "C")
        assert cassette.steps
        assert all(index < len(cassette.steps) for index in cassette.unused)
