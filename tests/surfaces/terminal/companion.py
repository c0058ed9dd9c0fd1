"""A companion of an IDE as a program: `companion.py FOLDER accept|edit|reject|none`."""

import json
import sys
from pathlib import Path
from typing import Any

FOLDER, ANSWER = sys.argv[1:3]
EDITED = "edited in the IDE\n"


def send(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def opened(path: str, content: str) -> None:
    if ANSWER == "reject":
        send(method="ide/diffRejected", params={"filePath": path})
    elif ANSWER != "none":
        text = EDITED if ANSWER == "edit" else content
        send(method="ide/diffAccepted", params={"filePath": path, "content": text})


def called(number: int, name: str, args: dict[str, Any]) -> None:
    text = json.dumps({"content": EDITED})
    parts = [{"type": "text", "text": text}] if name == "closeDiff" else []
    send(id=number, result={"content": parts})
    with Path(FOLDER, "../companion.log").open("a") as log:
        log.write(f"{name} {args['filePath']}\n")
    if name == "openDiff":
        opened(args["filePath"], args["newContent"])


def main() -> None:
    tools = [
        {"name": name, "inputSchema": {"type": "object"}} for name in ("openDiff", "closeDiff")
    ]
    shown = {"path": f"{FOLDER}/a.txt", "timestamp": 1, "isActive": True, "selectedText": "alpha"}
    for line in sys.stdin:
        message = json.loads(line)
        method, number = message.get("method"), message.get("id")
        if method == "initialize":
            facts = {"capabilities": {}, "serverInfo": {"name": "ide", "version": "1"}}
            version = message["params"]["protocolVersion"]
            send(id=number, result={"protocolVersion": version, **facts})
        elif method == "notifications/initialized":
            send(method="ide/contextUpdate", params={"workspaceState": {"openFiles": [shown]}})
        elif method == "tools/list":
            send(id=number, result={"tools": tools})
        elif method == "tools/call":
            called(number, message["params"]["name"], message["params"]["arguments"])


main()
