# ruff: noqa: D101, D102, D103 - a program of its own, not an importable module
"""A small MCP server on stdio, for the cassettes in `mcp`. Standard library only.

The command line's arguments add features: `resources` (with `pages`: one per page), `prompts`,
`instructions`, and the further tools `inputs`, `long`, `count`, `never`, `leave`, `babble`,
`forget`, `unlearn`, `variables`, `heard`, `ask` and `news`. `bare`: without any tool.
`scripted FILE`: the server answers as a JSON file says, see `Scripted`.
"""

import json
import os
import sys
import time
from pathlib import Path

TEXT, NUMBER = {"type": "string"}, {"type": "number"}
PICTURE = "iVBORw0KGgo="
RESOURCES = [
    {"uri": "memo://plain", "name": "plain", "description": "A memo.", "mimeType": "text/plain"},
    {"uri": "memo://picture", "name": "picture", "mimeType": "image/png"},
]
PROMPTS = [
    {
        "name": "greet someone",
        "description": "Greets.",
        "arguments": [
            {"name": "name", "description": "Who is greeted.", "required": True},
            {"name": "style"},
        ],
    },
    {"name": "rhyme"},
]
INSTRUCTIONS = "  Numbers are exact. Ask for memos by their address."


def tool(name, description, properties=None, required=(), **more):
    schema = {"type": "object", "properties": properties or {}}
    if required:
        schema["required"] = list(required)
    return {"name": name, "description": description, "inputSchema": schema, **more}


TOOLS = [
    tool(
        "sum", "Adds.", {"a": NUMBER, "b": NUMBER}, ["a", "b"], annotations={"readOnlyHint": True}
    ),
    tool("say", "Says it again.", {"text": TEXT}, ["text"]),
    tool("json", "Says text that is JSON.", {"text": TEXT}, ["text"]),
    tool("picture", "Shows a picture."),
    tool("blocks", "Brings one block of every kind."),
    tool("nothing", "Brings no block at all."),
    tool("refuse", "Reports an error.", {"why": TEXT}),
    tool("break", "Answers with an error of the protocol."),
    tool("wait", "Answers after a while.", {"ms": NUMBER}, ["ms"]),
    tool("die", "Ends the server before it has answered."),
    tool("learn", "Learns the tool `new`, and says so."),
]
NEW = tool("new", "Was learned.")
SWITCHED = {
    "inputs": tool("inputs", "Returns its arguments and variables.", {"text": TEXT}),
    "long": tool("begins_here_and_goes_on_for_longer_than_any_name_may_until_it_ends", "Is long."),
    "count": tool("count", "Counts, and reports how far it is.", {"to": NUMBER}, ["to"]),
    "never": tool("never", "Never answers."),
    "leave": tool("leave", "Answers, and ends the server."),
    "babble": tool("babble", "Sends a line that is no message before it answers."),
    "forget": tool("forget", "Announces another list of tools, and dies when it is asked for it."),
    "unlearn": tool("unlearn", "Withdraws the tool `say`, and says so."),
    "variables": tool("variables", "Returns environment variables.", {"names": {"type": "array"}}),
    "heard": tool("heard", "Returns all messages of the client so far."),
    "ask": tool("ask", "Asks the client, and returns its answers."),
    "news": tool("news", "Announces a new resource or prompt.", {"kind": TEXT}, ["kind"]),
}
ASKED = ("roots/list", "ping", "sampling/createMessage", "elicitation/create", "none/such")


def text(value):
    return {"type": "text", "text": value}


def prompt(name, arguments):
    if name == "rhyme":
        return {"type": "image", "data": PICTURE, "mimeType": "image/png"}
    style = arguments.get("style", "plain")
    return text(f"Say hello to {arguments['name']}, style: {style}.")


def memo(uri):
    if uri == "memo://plain":
        return {"uri": uri, "mimeType": "text/plain", "text": "Buy milk."}
    return {"uri": uri, "mimeType": "image/png", "blob": PICTURE}


def blocks():
    return [
        text("first"),
        {"type": "image", "data": PICTURE, "mimeType": "image/png"},
        {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
        {"type": "resource", "resource": memo("memo://plain")},
        {"type": "resource", "resource": memo("memo://picture")},
        {"type": "resource_link", "uri": "memo://link", "name": "link", "title": "A link"},
        text("last"),
    ]


def inputs(args):
    variables = {key: os.environ[key] for key in sorted(os.environ) if key.startswith("OF_")}
    return [text(json.dumps({"arguments": args, "variables": variables}))]


def variables(args):
    return [text(json.dumps({name: os.environ.get(name) for name in args["names"]}))]


CONTENTS = {
    "sum": lambda args: [text(f"sum={args['a'] + args['b']}")],
    "say": lambda args: [text(args["text"])],
    "json": lambda args: [text(args["text"])],
    "picture": lambda args: [{"type": "image", "data": PICTURE, "mimeType": "image/png"}],
    "blocks": lambda args: blocks(),
    "nothing": lambda args: [],
    "inputs": inputs,
    "variables": variables,
    SWITCHED["long"]["name"]: lambda args: [text("long indeed")],
    "leave": lambda args: [text("good-bye")],
}


class Refused(Exception):
    """The request is answered with an error."""


class Server:
    def __init__(self, switches):
        self.switches = switches
        more = [tool for switch, tool in SWITCHED.items() if switch in switches]
        self.tools = [] if "bare" in switches else TOOLS + more
        self.resources, self.prompts = RESOURCES, PROMPTS
        self.messages = []

    def run(self):
        while message := self.read():
            self.handle(message)

    def read(self):
        line = sys.stdin.readline()
        if not line:
            return None
        self.messages.append(json.loads(line))
        return json.loads(line)

    def send(self, **message):
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()

    def handle(self, message):
        if "id" not in message or "method" not in message:
            return
        try:
            result = self.answer(message["method"], message.get("params") or {})
        except Refused as refusal:
            code, words = refusal.args
            self.send(id=message["id"], error={"code": code, "message": words})
        else:
            if result is not None:
                self.send(id=message["id"], result=result)
        if message.get("params", {}).get("name") == "leave":
            sys.stdout.close()
            os._exit(0)

    def answer(self, method, params):
        resources = "resources" in self.switches
        if method == "initialize":
            result = {
                "protocolVersion": params.get("protocolVersion", "2025-06-18"),
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "calc", "version": "1.0.0"},
            }
            if resources:
                result["capabilities"]["resources"] = {}
            if "prompts" in self.switches:
                result["capabilities"]["prompts"] = {}
            if "instructions" in self.switches:
                result["instructions"] = INSTRUCTIONS
            return result
        if method == "ping":
            return {}
        if method == "tools/list":
            return {"tools": self.tools}
        if method == "tools/call":
            token = (params.get("_meta") or {}).get("progressToken")
            return self.call(params["name"], params.get("arguments") or {}, token)
        if method == "prompts/list" and "prompts" in self.switches:
            return {"prompts": self.prompts}
        if method == "prompts/get" and "prompts" in self.switches:
            return {"messages": [{"role": "user", "content": prompt(**params)}]}
        if method == "resources/list" and resources:
            return self.page(params.get("cursor"))
        if method == "resources/read" and resources:
            return {"contents": [memo(params["uri"])]}
        raise Refused(-32601, "Method not found")

    def page(self, cursor):
        if "pages" not in self.switches:
            return {"resources": self.resources}
        at = int(cursor or 0)
        more = {"nextCursor": str(at + 1)} if at + 1 < len(self.resources) else {}
        return {"resources": self.resources[at : at + 1], **more}

    def call(self, name, args, token):
        if name in CONTENTS:
            return {"content": CONTENTS[name](args)}
        if name == "refuse":
            why = args.get("why", "no reason")
            return {"isError": True, "content": [text(f"refused: {why}")]}
        if name == "wait":
            return self.wait(args["ms"], token)
        if name == "die":
            os._exit(3)
        if name in ("learn", "unlearn", "heard", "ask", "news"):
            return {"content": [text(getattr(self, name)(args))]}
        if name == "count":
            return self.count(args["to"], token)
        if name == "never":
            return None
        if name == "babble":
            sys.stdout.write("Not a message.\n")
            return {"content": [text("sorry")]}
        if name == "forget":
            self.send(method="notifications/tools/list_changed")
            if (self.read() or {}).get("method") == "tools/list":
                os._exit(4)
        if name == "new" and NEW in self.tools:
            return {"content": [text("new indeed")]}
        raise Refused(-32603, "something broke" if name == "break" else f"no tool {name}")

    def wait(self, ms, token):
        """Sends one valid progress notification and two invalid ones before it answers."""
        valid = {"progress": ms / 4, "total": ms, "message": "a quarter"}
        for notice in (valid, {"progress": -1}, {"progress": ms / 2, "total": 0}):
            self.send(method="notifications/progress", params={"progressToken": token, **notice})
        time.sleep(ms / 1000)
        return {"content": [text("waited")]}

    def count(self, to, token):
        """Progress without a total, with one, beyond it, and for another call."""
        notices = [
            {"progress": 0, "message": "begun ✓"},
            {"progress": 1, "total": to},
            {"progress": to, "total": to, "message": ""},
            {"progress": to + 1, "total": to, "message": "beyond"},
            {"progressToken": "another", "progress": 1, "total": 1},
        ]
        for notice in notices:
            self.send(method="notifications/progress", params={"progressToken": token, **notice})
        return {"content": [text(f"counted to {to}")]}

    def heard(self, args):
        """All messages, without versions, tokens and empty parameters, which clients choose."""
        for message in self.messages:
            params = message.get("params") or message.pop("params", {})
            params.get("clientInfo", {}).pop("version", None)
            if "progressToken" in params.get("_meta", {}):
                params["_meta"]["progressToken"] = "given"
        return json.dumps({"messages": self.messages}, sort_keys=True)

    def ask(self, args):
        """Makes a request of each kind, and waits for each answer."""
        answers = {}
        for method in ASKED:
            self.send(id=f"of {method}", method=method, params={})
            answers[method] = self.read()
        return json.dumps(answers, sort_keys=True)

    def news(self, args):
        """Adds a resource or a prompt, and says so."""
        if args["kind"] == "resources":
            self.resources = [*self.resources, {"uri": "memo://new", "name": "new"}]
        else:
            self.prompts = [*self.prompts, {"name": "new"}]
        self.announce(args["kind"])
        return args["kind"]

    def learn(self, args):
        self.tools = [*self.tools, NEW]
        self.announce("tools")
        return "learned"

    def unlearn(self, args):
        self.tools = [each for each in self.tools if each["name"] != "say"]
        self.announce("tools")
        return "unlearned"

    def announce(self, what):
        """Notifies the client that a list has changed, and handles its request first."""
        self.send(method=f"notifications/{what}/list_changed")
        self.handle(self.read() or {})
        time.sleep(0.3)


class Scripted(Server):
    """A server whose answers stand in a JSON file.

    The file maps a method, or a method and a name, to the result. A list has one result for each
    value of the argument `n`. A text instead of a result is the message of an error.
    """

    def __init__(self, file):
        super().__init__(["bare"])
        self.answers = json.loads(Path(file).read_text(encoding="utf-8"))

    def answer(self, method, params):
        named = f"{method} {params.get('name', params.get('uri'))}"
        found = self.answers.get(named, self.answers.get(method))
        if isinstance(found, list):
            found = found[params["arguments"]["n"]]
        if isinstance(found, str):
            raise Refused(-32000, found)
        return super().answer(method, params) if found is None else found


(Scripted(sys.argv[2]) if "scripted" in sys.argv else Server(sys.argv[1:])).run()
