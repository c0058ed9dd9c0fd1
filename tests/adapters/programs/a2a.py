"""A program that serves A2A 0.3 over JSON-RPC, without a model."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT = int(sys.argv[1])
CARD = {
    "name": "shop",
    "url": f"http://127.0.0.1:{PORT}/",
    "protocolVersion": "0.3.0",
    "preferredTransport": "JSONRPC",
    "capabilities": {"streaming": "plain" not in sys.argv},
    "skills": [],
    "version": "1",
    "description": "sells",
    "defaultInputModes": ["text"],
    "defaultOutputModes": ["text"],
}
IDS = {"taskId": "t1", "contextId": "c1"}


def message(*parts):
    return {"kind": "message", "messageId": "m", "role": "agent", "parts": list(parts)}


def text(said):
    return {"kind": "text", "text": said}


def updates(said):
    yield {"kind": "task", "id": "t1", "contextId": "c1", "status": {"state": "submitted"}}
    yield {
        "kind": "artifact-update",
        **IDS,
        "artifact": {
            "artifactId": "a",
            "parts": [text(f"You said {said}."), {"kind": "data", "data": {"n": 1}}],
        },
    }
    state = "failed" if said == "no" else "completed"
    yield {
        "kind": "status-update",
        **IDS,
        "final": True,
        "status": {"state": state, "message": message(text("Done."))},
    }


class Agent(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.reply(json.dumps(CARD).encode(), "application/json")

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        said = asked["params"].get("message", {"parts": [{"text": ""}]})["parts"][0]["text"]
        results = list(updates(said))
        if asked["method"] == "message/send":
            *_, last = results
            task = {
                "kind": "task",
                "id": "t1",
                "contextId": "c1",
                "status": last["status"],
                "artifacts": [results[1]["artifact"]],
            }
            self.reply(json.dumps(self.response(asked, task)).encode(), "application/json")
            return
        lines = (f"data: {json.dumps(self.response(asked, each))}\n\n" for each in results)
        self.reply("".join(lines).encode(), "text/event-stream")

    def response(self, asked, result):
        return {"jsonrpc": "2.0", "id": asked["id"], "result": result}

    def reply(self, body, kind):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        """Print nothing."""


ThreadingHTTPServer(("127.0.0.1", PORT), Agent).serve_forever()
