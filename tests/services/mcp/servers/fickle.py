"""An MCP server on stdio that crashes, hangs, floods and changes its lists on demand."""

import asyncio
import os
import sys
from pathlib import Path

import mcp_types as types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.stdio import stdio_server

STATE = {"generation": 0, "lists": 0}
ANY = {"type": "object"}
NAMES = [
    "echo", "env", "crash", "hang", "huge", "flood", "change", "idle_notice", "burst",
    "progress", "structured", "unstructured", "fork", "counts",
]  # fmt: skip


def tool(name, **more):
    return types.Tool(name=name, description=f"Does {name}.", input_schema=ANY, **more)


async def list_tools(ctx, params):
    STATE["lists"] += 1
    tools = [tool(name) for name in NAMES]
    for at, name in enumerate(NAMES):
        if name in ("structured", "unstructured"):
            schema = {
                "type": "object",
                "properties": {"n": {"type": "number"}},
                "required": ["n"],
            }
            tools[at] = tool(name, output_schema=schema)
    extra = [tool(f"extra_{number}") for number in range(STATE["generation"])]
    return types.ListToolsResult(tools=[*tools, *extra])


def text(value):
    return types.CallToolResult(content=[types.TextContent(type="text", text=value)])


async def call_tool(ctx, params):  # noqa: C901 - one branch a misdeed
    name, args = params.name, params.arguments or {}
    if name == "echo":
        return text(str(args.get("text", "")))
    if name == "env":
        return text("\n".join(f"{key}={os.environ[key]}" for key in sorted(os.environ)))
    if name == "crash":
        os._exit(3)
    if name == "hang":
        Path(args["mark"]).write_text(str(os.getpid()))
        await asyncio.sleep(3600)
    if name == "huge":
        return text("x" * int(args["n"]))
    if name == "flood":
        sys.stderr.write("noise " * 200_000)
        sys.stderr.flush()
        return text("dry")
    if name == "change":
        STATE["generation"] += 1
        await ctx.session.send_tool_list_changed()
        await ctx.session.send_resource_list_changed()
        await ctx.session.send_prompt_list_changed()
        return text("changed")
    if name == "idle_notice":
        await ctx.session.send_tool_list_changed()
        return text("noticed")
    if name == "burst":
        STATE["generation"] += 1
        for _ in range(20):
            await ctx.session.send_tool_list_changed()
        return text("burst")
    if name == "progress":
        await ctx.session.report_progress(1, 4, "a quarter")
        await ctx.session.report_progress(2.5, None, None)
        return text("done")
    if name == "structured":
        return types.CallToolResult(content=[], structured_content={"n": args.get("n")})
    if name == "fork":
        child = await asyncio.create_subprocess_exec("sleep", "3600")
        Path(args["mark"]).write_text(str(child.pid))
        return text("forked")
    if name == "counts":
        return text(f"lists {STATE['lists']}")
    return text(name)


async def list_resources(ctx, params):
    first = types.Resource(uri="mem://one", name="one", description="The first.")
    if params is None or params.cursor is None:
        return types.ListResourcesResult(resources=[first], next_cursor="more")
    more = [
        types.Resource(uri=f"mem://later/{number}", name=f"later {number}")
        for number in range(1 + STATE["generation"])
    ]
    return types.ListResourcesResult(resources=more)


async def read_resource(ctx, params):
    if str(params.uri) == "mem://one":
        return types.ReadResourceResult(
            contents=[
                types.TextResourceContents(uri="mem://one", text="one's text"),
                types.BlobResourceContents(uri="mem://one", blob="AAAA", mime_type="x/y"),
            ]
        )
    return types.ReadResourceResult(contents=[])


async def list_prompts(ctx, params):
    names = ["greet", *(f"greet_{number}" for number in range(STATE["generation"]))]
    return types.ListPromptsResult(prompts=[types.Prompt(name=name) for name in names])


async def get_prompt(ctx, params):
    said = types.TextContent(type="text", text=str(params.arguments))
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=said)])


async def main():
    server = Server(
        "fickle",
        instructions="Be careful.",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )
    async with stdio_server() as (read, write):
        options = server.create_initialization_options(
            NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)
        )
        await server.run(read, write, options)


asyncio.run(main())
