"""A server with many agents, started by tests as `python server.py`; prints its port, then serves.

Agents by path: `/now` (protocol 1.0), `/old` (0.3, the library's), `/first` (0.3, by hand), each as
JSON-RPC at `…/rpc`; `/rest` and `/oldrest` over HTTP+JSON. `/locked/<scheme>` wants credentials.
Cards are at `/card/<agent>`; bad ones under `/bad/`. `/seen` returns the server's requests.
"""

import asyncio
import base64
import json
import socket
import sys
from typing import Any

import uvicorn
from a2a.helpers import new_text_message
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandlerV2
from a2a.server.routes import create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import a2a_pb2 as a2a
from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Value
from starlette.applications import Starlette
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route

KEYS = {
    "key": ("x-api-key", "key-4f3c9a1b77"),
    "own": ("x-own-key", "key-4f3c9a1b77"),
    "bearer": ("authorization", "Bearer token-81d02e5c66"),
    "basic": ("authorization", "Basic " + base64.b64encode(b"ada:pass-52aa90ff13").decode()),
    "digest": ("authorization", "Digest value-33e1c7d905"),
}
SEEN: dict[str, Any] = {"asked": [], "cards": [], "cancelled": [], "texts": [], "denied": 0}


class Agent(AgentExecutor):
    """Does what the first word of the message says."""

    async def execute(self, context, queue):
        word, _, rest = context.get_user_input().partition(" ")
        SEEN["texts"].append(context.get_user_input())
        if word == "say":
            await queue.enqueue_event(new_text_message(rest, role=a2a.Role.ROLE_AGENT))
            return
        if context.current_task is None:
            await queue.enqueue_event(
                a2a.Task(
                    id=context.task_id,
                    context_id=context.context_id,
                    status=a2a.TaskStatus(state=a2a.TaskState.TASK_STATE_SUBMITTED),
                    history=[context.message],
                )
            )
        task = TaskUpdater(queue, context.task_id, context.context_id)
        if context.current_task is not None and word != "wait":
            await task.complete(said(task, f"You chose {context.get_user_input()}."))
            return
        await getattr(self, word)(task, rest, context)

    async def work(self, task, rest, context):
        await task.start_work(said(task, "Looking. "))
        await task.start_work(said(task, "Found it. "))
        part = [a2a.Part(text="one ")]
        await task.add_artifact(part, artifact_id="r", name="report", last_chunk=False)
        await task.add_artifact([a2a.Part(text="two")], artifact_id="r", append=True)
        await task.complete(said(task, "Done."))

    async def parts(self, task, rest, context):
        data = ParseDict({"a": [True, None, 1.5, {"b": 1}]}, Value())
        await task.add_artifact(
            [
                a2a.Part(data=data),
                a2a.Part(url="https://example.com/x.png"),
                a2a.Part(raw=b"123", filename="y.bin"),
                a2a.Part(raw=b"456"),
            ]
        )
        await task.complete()

    async def ask(self, task, rest, context):
        await task.requires_input(said(task, "Which colour?"))

    async def permit(self, task, rest, context):
        await task.requires_auth(said(task, "Sign in first."))

    async def fail(self, task, rest, context):
        await task.failed(said(task, "It went wrong."))

    async def reject(self, task, rest, context):
        await task.reject(said(task, "Not that."))

    async def withdraw(self, task, rest, context):
        await task.cancel(said(task, "Not any more."))

    async def wait(self, task, rest, context):
        await task.start_work(said(task, "Waiting."))
        await asyncio.Event().wait()

    async def echo(self, task, rest, context):
        headers = context.call_context.state["headers"]
        listed = " ".join(f"{name}={value}" for name, value in sorted(headers.items()))
        await task.complete(said(task, listed))

    async def cancel(self, context, queue):
        SEEN["cancelled"].append(context.task_id)
        await TaskUpdater(queue, context.task_id, context.context_id).cancel()


def said(task, text):
    return task.new_agent_message([a2a.Part(text=text)])


def handler():
    way = a2a.AgentInterface(url="/", protocol_binding="JSONRPC", protocol_version="1.0")
    skill = a2a.AgentSkill(id="s", name="s", description="s", tags=["s"])
    card = a2a.AgentCard(
        name="agent",
        description="An agent",
        version="1",
        capabilities=a2a.AgentCapabilities(streaming=True),
        supported_interfaces=[way],
        default_input_modes=["text"],
        default_output_modes=["text"],
        skills=[skill],
    )
    return DefaultRequestHandlerV2(Agent(), InMemoryTaskStore(), card)


def locked(app, header, value):
    async def check(scope, receive, send):
        given = dict(scope["headers"]).get(header.encode(), b"").decode()
        if given != value:
            SEEN["denied"] += 1
            body = f"{header} {given!r} is not good enough"
            await Response(body, status_code=401)(scope, receive, send)
            return
        await app(scope, receive, send)

    return check


def noted(app):
    """Keeps what is asked of `app`, whatever it makes of it."""

    async def keep(scope, receive, send):
        if scope["path"] == "/seen":
            await app(scope, receive, send)
            return
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        asked = {"method": scope["method"], "path": scope["path"], "headers": headers, "body": ""}
        SEEN["asked"].append(asked)

        async def read():
            message = await receive()
            asked["body"] += message.get("body", b"").decode()
            return message

        await app(scope, read, send)

    return keep


def event(request_id, result):
    answer = {"jsonrpc": "2.0", "id": request_id, "result": result}
    return f"data: {json.dumps(answer)}\n\n".encode()


async def first(request):
    """Protocol 0.3 by hand, as the specification of that time has it."""
    asked = await request.json()
    assert asked["method"] == "message/stream", asked
    message = asked["params"]["message"]
    assert (message["kind"], message["parts"][0]["kind"]) == ("message", "text")
    ids = {"taskId": "t-1", "contextId": "c-1"}

    async def events():
        task = {"kind": "task", "id": "t-1", "contextId": "c-1", "status": {"state": "submitted"}}
        yield event(asked["id"], task)
        artifact = {
            "artifactId": "a",
            "name": "answer",
            "parts": [{"kind": "text", "text": message["parts"][0]["text"].upper()}],
        }
        yield event(asked["id"], {"kind": "artifact-update", **ids, "artifact": artifact})
        status = {"state": "completed"}
        yield event(asked["id"], {"kind": "status-update", **ids, "status": status, "final": True})

    return StreamingResponse(events(), media_type="text/event-stream")


async def dropping(request):
    """Begins to answer, in the protocol that it is asked in, and breaks off."""
    asked = await request.json()
    ids = {"taskId": "t-2", "contextId": "c-2"}
    if asked["method"].startswith("message/"):
        part = {"kind": "text", "text": "Half of it"}
        message = {"kind": "message", "messageId": "m", "role": "agent", "parts": [part]}
        status = {"state": "working", "message": message}
        result = {"kind": "status-update", **ids, "status": status, "final": False}
    else:
        message = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "Half of it"}]}
        status = {"state": "TASK_STATE_WORKING", "message": message}
        result = {"statusUpdate": {**ids, "status": status}}

    async def events():
        yield event(asked["id"], result)
        raise ConnectionResetError

    return StreamingResponse(events(), media_type="text/event-stream")


async def stuck(request):
    """Answers, never ends, and refuses to cancel."""
    asked = await request.json()
    if asked["method"] == "tasks/cancel":
        await asyncio.sleep(30)

    async def events():
        ids = {"taskId": "t-3", "contextId": "c-3"}
        part = {"kind": "text", "text": "Stuck."}
        message = {"kind": "message", "messageId": "m", "role": "agent", "parts": [part]}
        status = {"state": "working", "message": message}
        yield event(asked["id"], {"kind": "status-update", **ids, "status": status, "final": False})
        await asyncio.sleep(30)

    return StreamingResponse(events(), media_type="text/event-stream")


async def flooding(request):
    async def events():
        for _ in range(100):
            yield b": " + b"x" * 65536 + b"\n"

    return StreamingResponse(events(), media_type="text/event-stream")


async def nothing(request):
    return StreamingResponse(iter(()), media_type="text/event-stream")


async def refusing(request):
    """Answers with an error: its code, and how it is sent, are in the address."""
    asked = await request.json()
    error = {"code": int(request.query_params.get("code", -32050)), "message": "not today"}
    answer = {"jsonrpc": "2.0", "id": asked["id"], "error": error}
    match request.query_params.get("how"):
        case "sse":
            line = f"data: {json.dumps(answer)}\n\n".encode()
            return StreamingResponse(iter([line]), media_type="text/event-stream")
        case "event":
            line = f"event: error\ndata: {json.dumps(answer)}\n\n".encode()
            return StreamingResponse(iter([line]), media_type="text/event-stream")
        case "500":
            return JSONResponse(answer, status_code=500)
    return JSONResponse(answer)


async def refusing_rest(request):
    error = {"code": int(request.path_params["code"]), "message": "not today", "data": {"why": 1}}
    if request.path_params["how"].endswith("event"):
        line = f"event: error\ndata: {json.dumps(error)}\n\n".encode()
        return StreamingResponse(iter([line]), media_type="text/event-stream")
    return JSONResponse(error, status_code=500)


async def nonsense(request):
    asked = await request.json()
    return StreamingResponse(
        iter([event(asked["id"], {"task": {"id": ["no", "text"]}})]),
        media_type="text/event-stream",
    )


async def card(request):
    name = request.path_params["agent"]
    base = str(request.base_url).rstrip("/")
    SEEN["cards"].append([name, "authorization" in request.headers])
    found = {
        "name": name,
        "description": f"The agent {name}",
        "version": "1",
        "capabilities": {"streaming": not name.endswith("-still")},
        "skills": [{"id": "s", "name": "sums", "description": "Adds"}, {"id": "e", "name": "else"}],
        "defaultInputModes": ["text"],
        "defaultOutputModes": ["text"],
    }
    path = name.removesuffix("-still")
    if path in ("old", "first"):
        found |= {"url": f"{base}/{path}/rpc", "protocolVersion": "0.3.0"}
    elif path == "oldrest":
        found |= {
            "url": f"{base}/nowhere",
            "preferredTransport": "GRPC",
            "protocolVersion": "0.3.0",
            "additionalInterfaces": [{"transport": "HTTP+JSON", "url": f"{base}/oldrest"}],
        }
    else:
        rest = path == "rest"
        found["supportedInterfaces"] = [
            {
                "url": f"{base}/rest" if rest else f"{base}/{path.replace('.', '/')}/rpc",
                "protocolBinding": "HTTP+JSON" if rest else "JSONRPC",
                "protocolVersion": "1.0",
            }
        ]
    if path.startswith("locked."):
        found["securitySchemes"] = {"http": {"type": "http", "scheme": "Bearer"}}
    return JSONResponse(found)


async def slow():
    await asyncio.sleep(30)
    return Response()


async def bad(request):
    match request.path_params["kind"]:
        case "huge":
            return Response(json.dumps({"name": "x" * 3_000_000}))
        case "moved":
            return RedirectResponse("/card/now")
        case "away":
            host = str(request.base_url).replace("127.0.0.1", "localhost")
            return RedirectResponse(f"{host}card/now")
        case "circle":
            return RedirectResponse("/bad/circle")
        case "page":
            return Response("<html>not a card</html>", media_type="text/html")
        case "list":
            return JSONResponse(["no", "card"])
        case "gone":
            return Response("gone", status_code=404)
        case "private":
            if request.headers.get("authorization") != KEYS["bearer"][1]:
                return Response("no", status_code=401)
            request.path_params["agent"] = "now"
            return await card(request)
    return await slow()


async def token(request):
    """Google's token server, for any key file that names this one."""
    form = (await request.body()).decode()
    assertion = dict(pair.split("=", 1) for pair in form.split("&"))["assertion"]
    claims = json.loads(base64.urlsafe_b64decode(assertion.split(".")[1] + "=="))
    if "target_audience" not in claims:
        found = {"access_token": f"access-token-of-{claims['scope']}", "expires_in": 3600}
        return JSONResponse(found)
    body = json.dumps({"aud": claims["target_audience"], "exp": claims["exp"]}).encode()
    parts = (b"{}", body, b"signature")
    text = ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)
    return JSONResponse({"id_token": text})


async def seen(request):
    return JSONResponse(SEEN)


def app():
    routes = [
        Route("/seen", seen),
        Route("/token", token, methods=["POST"]),
        Route("/card/{agent}", card),
        Route("/bad/{kind}", bad),
        Route("/first/rpc", first, methods=["POST"]),
        Route("/dropping/rpc", dropping, methods=["POST"]),
        Route("/stuck/rpc", stuck, methods=["POST"]),
        Route("/flooding/rpc", flooding, methods=["POST"]),
        Route("/nothing/rpc", nothing, methods=["POST"]),
        Route("/refusing/{code}/{how}/v1/{method}", refusing_rest, methods=["POST"]),
        Route("/refusing/rpc", refusing, methods=["POST"]),
        Route("/nonsense/rpc", nonsense, methods=["POST"]),
        Mount("/now", routes=create_jsonrpc_routes(handler(), "/rpc")),
        Mount("/old", routes=create_jsonrpc_routes(handler(), "/rpc", enable_v0_3_compat=True)),
        Mount("/rest", routes=create_rest_routes(handler())),
        Mount("/oldrest", routes=create_rest_routes(handler(), enable_v0_3_compat=True)),
    ]
    for name, (header, value) in KEYS.items():
        both = create_jsonrpc_routes(handler(), "/rpc", enable_v0_3_compat=True)
        inner = Starlette(routes=both)
        routes.append(Mount(f"/locked/{name}", app=locked(inner, header, value)))
    return Starlette(routes=routes)


if __name__ == "__main__":
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    # The client connects as soon as it reads the port.
    listening.listen()
    sys.stdout.write(f"{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    config = uvicorn.Config(
        noted(app()), log_level="critical", lifespan="off", timeout_graceful_shutdown=0
    )
    uvicorn.Server(config).run(sockets=[listening])
