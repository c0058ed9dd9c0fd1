"""A server in a few lines of its own, for what the server library would never send.

The first argument says how it misbehaves: `silent` never answers, `deaf` refuses to end, `dies`
ends at once, `wrong_version`, `empty` has nothing, `paged` lists in pages, `odd` sends tools of
odd shapes, `late` answers a call when it hears of the next, `garbage` prints before it answers a
call, `halves` answers with half a surrogate pair.
"""

import json
import signal
import sys
import time

WAY = sys.argv[1]
if WAY == "dies":
    sys.exit(1)
if WAY == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def tools(params):
    if WAY == "empty":
        return {"tools": []}
    if WAY == "paged" and not params.get("cursor"):
        return {"tools": [{"name": "first", "inputSchema": {"type": "object"}}], "nextCursor": "2"}
    if WAY == "odd":
        return {"tools": [{"name": "a", "inputSchema": {"type": "string"}}]}
    return {"tools": [{"name": "slow", "inputSchema": {"type": "object"}}]}


def answer(method, params):
    if method == "initialize":
        version = "1999-01-01" if WAY == "wrong_version" else params["protocolVersion"]
        return {
            "protocolVersion": version,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "rude", "version": "0"},
        }
    if method == "tools/list":
        return tools(params)
    if WAY == "garbage":
        sys.stdout.write("this is no message\n")
        say({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    text = "a\ud800b\0\x1b[31m" if WAY == "halves" else "done"
    return {"content": [{"type": "text", "text": text}]}


kept = []
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request or WAY == "silent":
        continue
    if WAY == "late" and request["method"] == "tools/call" and not kept:
        kept.append(request)
        continue
    if kept:
        say({"jsonrpc": "2.0", "id": kept[0]["id"], "result": answer("tools/call", {})})
    result = answer(request["method"], request.get("params") or {})
    say({"jsonrpc": "2.0", "id": request["id"], "result": result})
if WAY == "deaf":
    while True:
        time.sleep(1)
