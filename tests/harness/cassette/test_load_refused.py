"""Wrong keys and values are refused by their path."""

from __future__ import annotations

import pytest

from tests.harness.cassette.loading import SMALL, refused


def test_a_name_that_is_not_the_path_is_refused(tmp_path):
    error = refused(tmp_path, SMALL.replace("f/c", "f/other"))
    assert error.key == "name"
    assert "'f/c'" in error.problem


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
        ("answers: {fallback: [never]}", "answers.fallback[0]", "not an answer to this question"),
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
        ("{send: {message: {}}}", "script[0].send.message.content", "missing"),
        ("{send: {message: {content: []}, update: {}}}", "script[0].send", "exactly one of"),
        ("{send: {update: {name: x}}}", "script[0].send.update.name", "unknown key"),
        ("{send: {elicitations: []}}", "script[0].send", "elicitations"),
        ("{send: {action: {type: a}, _meta: 5}}", "script[0].send._meta", ""),
        ("{compress: false}", "script[0].compress", "must be true"),
        ("{set_model: 5}", "script[0].set_model", "must be a mapping"),
        ("{set_approval_mode: {mode: x}}", "script[0].set_approval_mode.mode", "auto_edit"),
        ("{leave_plan_mode: {mode: plan}}", "script[0].leave_plan_mode.mode", "auto_edit"),
        ("{hint: {text: h, source: me}}", "script[0].hint.source", "user_steering"),
        ("{write_file: {path: ../x, text: t}}", "script[0].write_file.path", "leads out"),
        ("{write_file: {path: <HOME>/x, text: t}}", "script[0].write_file.path", "placeholder"),
        ("{write_file: {path: x}}", "script[0].write_file.text", "is missing"),
        ("{rewind: {to: -1}}", "script[0].rewind.to", "whole number"),
        ("{rewind: {to: 1, choice: all}}", "script[0].rewind.choice", "rewind_and_revert"),
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
        ("{coreTools: x}", "coreTools", "a list of texts"),
        ("{hooks: {Before: []}}", "hooks.Before", "unknown hook event"),
        ("{hooks: {BeforeTool: {}}}", "hooks.BeforeTool", "a list of definitions expected"),
        ("{hooks: {BeforeTool: [{}]}}", "hooks.BeforeTool[0]", '{"hooks": ['),
        ("{mcpServers: {a: x}}", "mcpServers.a", "must be a mapping"),
        ("{adk: {enabled: true}}", "adk.enabled", "unknown key"),
        ("{adk: {runtimeEnabled: 1}}", "adk.runtimeEnabled", "true or false"),
        ("{contextManagement: {tool: {}}}", "contextManagement.tool", "did you mean tools?"),
        (
            "{contextManagement: {tools: {outputMasking: []}}}",
            "contextManagement.tools.outputMasking",
            "must be a mapping",
        ),
        (
            "{contextManagement: {tools: {outputMasking: {protectLatestTurn: 1}}}}",
            "contextManagement.tools.outputMasking.protectLatestTurn",
            "must be true or false",
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
