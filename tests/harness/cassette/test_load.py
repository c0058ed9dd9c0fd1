from __future__ import annotations

import hashlib
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
    AtOutput,
    AtRequest,
    AtTool,
    Compress,
    Hint,
    LeavePlanMode,
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
from harness.errors import CassetteNotFound
from services.rewind import RewindChoice
from services.state import ApprovalMode
from tests.harness.cassette.loading import HEAD, SMALL, load, write

ORACLE = Path(__file__).parents[3] / ".." / "shared" / "oracle" / "cassettes"


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
    assert cassette.features == frozenset()
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


FULL = (
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
- leave_plan_mode: {mode: default}
- leave_plan_mode: auto_edit
- hint: {text: h, source: background_completion}
- hint: {text: h}
- write_file: {path: <WS>/d/e, text: w}
- quota_error: true
- rewind: {to: u1}
- rewind: {to: 2, choice: rewind_and_revert}
- send: {update: {title: t, config: {a: 1}}}
- send: {action: {type: a, data: [1]}}
- send: {message: {content: [{type: text, text: t}], displayContent: d}, _meta: {a: 1}}
during:
- {when: {events: 4}, do: abort}
- {when: {type: usage}, delay_ms: 5, do: {hint: {text: h}}}
- {when: {tool: read_file}, do: {set_approval_mode: {mode: default}}}
- {when: {output: run_shell_command}, do: {set_approval_mode: {mode: default}}}
- {when: {request: 0}, do: {send: again}}
- {when: {chunk: "1:2"}, do: abort}
- {when: {request: 1}, do: {send: {update: {title: t}}}}
- {when: {request: 2}, do: {send: {action: {type: a}}}}
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
"""
)
"""Every key, and every form of an action, a moment and an answer."""


def test_every_key_of_the_head_is_read(tmp_path):
    cassette = load(tmp_path, FULL)
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
    assert cassette.match == "by_role"
    assert [step.index for step in cassette.steps] == [0, 1, 2]
    assert cassette.unused == (1, 2)
    assert cassette.features == {
        "compression",
        "confirmations",
        "fallback_handler",
        "interactive",
        "reset",
        "resume",
        "revert",
        "rewind",
        "steering",
    }


def test_every_action_is_read(tmp_path):
    cassette = load(tmp_path, FULL)
    assert cassette.script[0].payload.display_content == "d"
    assert cassette.script[1:16] == (
        Compress(),
        Reset(),
        ResumeSelf(),
        SetModel("n"),
        SetModel("n"),
        SetApprovalMode(ApprovalMode.PLAN),
        SetApprovalMode(ApprovalMode.YOLO),
        LeavePlanMode(ApprovalMode.DEFAULT),
        LeavePlanMode(ApprovalMode.AUTO_EDIT),
        Hint("h", "background_completion"),
        Hint("h", "user_steering"),
        WriteFile("d/e", "w"),
        NoteQuotaError(),
        Rewind("u1"),
        Rewind(2, RewindChoice.BOTH),
    )
    assert cassette.script[16] == Send(UpdateSend(title="t", config={"a": 1}))
    assert cassette.script[17] == Send(ActionSend(type="a", data=[1]))
    assert cassette.script[18] == Send(
        MessageSend(content=(TextPart(text="t"),), display_content="d", meta={"a": 1})
    )


def test_every_moment_and_answer_is_read(tmp_path):
    cassette = load(tmp_path, FULL)
    assert [moment.when for moment in cassette.during] == [
        AfterEvents(4),
        AtEventType("usage"),
        AtTool("read_file"),
        AtOutput("run_shell_command"),
        AtRequest(0),
        AfterChunk(1, 2),
        AtRequest(1),
        AtRequest(2),
    ]
    assert cassette.during[0].do == Abort()
    assert cassette.during[1].delay_ms == 5
    assert cassette.during[6].do == Send(UpdateSend(title="t"))
    assert cassette.during[7].do == Send(ActionSend(type="a"))
    assert cassette.during[2].do == SetApprovalMode(ApprovalMode.DEFAULT)
    assert [answer.outcome.value for answer in cassette.answers.confirmations] == [
        "proceed_once",
        "modify_with_editor",
    ]
    assert cassette.answers.confirmations[1].payload == {"newContent": "n"}
    assert [answer.delay_ms for answer in cassette.answers.confirmations] == [0, 2.5]
    asked = cassette.answers.questions["fallback"]
    assert [answer.value for answer in asked] == ["retry_once", "stop"]


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
