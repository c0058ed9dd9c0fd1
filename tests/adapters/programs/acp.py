"""A program that speaks ACP, without a model."""

import json
import sys

SESSION = "s1"


def write(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def update(kind, **fields):
    params = {"sessionId": SESSION, "update": {"sessionUpdate": kind, **fields}}
    write(method="session/update", params=params)


def read():
    return json.loads(sys.stdin.readline())


def prompt(number, text):
    update("agent_thought_chunk", content={"type": "text", "text": "Hm."})
    update("agent_message_chunk", content={"type": "text", "text": f"You said {text}."})
    update("tool_call", toolCallId="c1", title="order", rawInput={"item": text}, status="pending")
    if text == "wait":
        while read().get("method") != "session/cancel":
            pass
        write(id=number, result={"stopReason": "cancelled"})
        return
    options = [
        {"optionId": "no", "kind": "reject_once"},
        {"optionId": "yes", "kind": "allow_once"},
    ]
    write(id="q", method="session/request_permission", params={"options": options})
    chosen = read()["result"]["outcome"]["optionId"]
    write(id="r", method="fs/read_text_file", params={})
    assert read()["error"]["code"] == -32601
    update("tool_call_update", toolCallId="c1", status="completed", rawOutput={"chosen": chosen})
    update("plan", entries=[{"content": "a", "status": "pending"}])
    write(id=number, result={"stopReason": "refusal" if text == "no" else "end_turn"})


while line := sys.stdin.readline():
    message = json.loads(line)
    match message["method"]:
        case "initialize":
            write(id=message["id"], result={"protocolVersion": 1})
        case "session/new" if "refuse" in sys.argv:
            write(id=message["id"], error={"code": -32000, "message": "Authentication required"})
        case "session/new":
            write(id=message["id"], result={"sessionId": SESSION})
        case "session/prompt":
            prompt(message["id"], message["params"]["prompt"][0]["text"])
