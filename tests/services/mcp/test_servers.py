"""Sessions with servers that are real child processes."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from services.abort import AbortController, AbortError
from services.mcp.errors import McpConnectionError
from services.mcp.manager import UnknownServer
from services.mcp.states import McpServerStatus
from tests.processes import ends
from tests.services.mcp.conftest import OpenSession, on_virtual_time, said_to_model, server

CLOSED = "MCP error -32000: Connection closed"


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@on_virtual_time
async def test_tools_are_registered_by_server_and_called_by_their_own_name(
    session: OpenSession,
) -> None:
    servers = {"zeta": server("rude.py", "plain"), "alpha": server("fickle.py", trust=True)}
    async with session(servers) as opened:
        names = opened.tools.all_names()
        assert names[0] == "mcp_alpha_echo"
        assert names[-1] == "mcp_zeta_slow"
        assert opened.manager.status("alpha") is McpServerStatus.CONNECTED
        assert said_to_model(await opened.call("mcp_alpha_echo", {"text": "hi"})) == "hi"
        assert opened.clock.held is False


@on_virtual_time
async def test_instructions_prompts_and_resources_are_those_of_the_server(
    session: OpenSession,
) -> None:
    async with session({"f": server("fickle.py")}) as opened:
        manager = opened.manager
        assert manager.instructions() == (
            "The following are instructions provided by the tool server 'f':\n"
            "---[start of server instructions]---\nBe careful.\n"
            "---[end of server instructions]---"
        )
        assert [item.uri for item in manager.all_resources()] == ["mem://one", "mem://later/0"]
        prompt = manager.main.prompts.get("greet")
        assert prompt is not None
        said = await prompt.invoke({"a": 1, "b": None, "c": True})
        assert said["messages"][0]["content"]["text"] == "{'a': '1', 'c': 'true'}"


@on_virtual_time
@pytest.mark.contract("P-151")
async def test_a_server_that_dies_in_a_call_fails_the_call_until_it_is_restarted(
    session: OpenSession,
) -> None:
    async with session({"f": server("fickle.py")}) as opened:
        result = await opened.call("mcp_f_crash")
        assert result.error is not None
        assert CLOSED in result.error.message
        result = await opened.call("mcp_f_echo", {"text": "x"})
        assert result.error is not None
        assert '{"message":"Not connected","isError":true}' in result.error.message
        await opened.manager.restart_server("f")
        assert said_to_model(await opened.call("mcp_f_echo", {"text": "back"})) == "back"
        assert len(opened.tools.all_names()) == 14


@on_virtual_time
@pytest.mark.slow
async def test_a_server_that_is_not_known_is_not_restarted(session: OpenSession) -> None:
    async with session({"f": server("fickle.py")}) as opened:
        with pytest.raises(UnknownServer, match='No MCP server registered with the name "q"'):
            await opened.manager.restart_server("q")


@on_virtual_time
async def test_an_abort_ends_the_wait_and_leaving_ends_the_server(
    session: OpenSession, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    abort = AbortController()
    async with session({"f": server("fickle.py")}) as opened:
        calling = asyncio.get_running_loop().create_task(
            opened.call("mcp_f_hang", {"mark": str(mark)}, abort=abort)
        )
        while not mark.exists() or not mark.read_text():  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.01)
        abort.abort()
        with pytest.raises(AbortError, match="Tool call aborted"):
            await calling
        assert opened.clock.held is False
        pid = int(mark.read_text())
        assert alive(pid)
    assert ends(pid)


@on_virtual_time
async def test_a_call_without_an_answer_ends_with_its_time_limit(session: OpenSession) -> None:
    async with session({"f": server("fickle.py")}) as opened:
        client = opened.manager.client("f")
        assert client is not None
        client.config = type(client.config)(timeout_ms=50)
        result = await opened.call("mcp_f_hang", {"mark": os.devnull})
        assert result.error is not None
        assert "MCP error -32001: Request timed out" in result.error.message
        client.config = type(client.config)()
        assert said_to_model(await opened.call("mcp_f_echo", {"text": "on"})) == "on"


@on_virtual_time
async def test_an_answer_after_its_time_disconnects_but_leaves_the_tools(
    session: OpenSession,
) -> None:
    async with session({"r": server("rude.py", "late")}) as opened:
        client = opened.manager.client("r")
        assert client is not None
        client.config = type(client.config)(timeout_ms=50)
        await opened.call("mcp_r_slow")
        client.config = type(client.config)()
        await opened.call("mcp_r_slow")
        assert client.status is McpServerStatus.DISCONNECTED
        assert opened.said() == ["error: MCP ERROR (r)"]
        with pytest.raises(McpConnectionError, match="Client is not connected, must connect"):
            await client.read_resource("mem://x")


@on_virtual_time
@pytest.mark.slow
async def test_twenty_megabytes_and_a_flood_of_noise_are_taken(session: OpenSession) -> None:
    async with session({"f": server("fickle.py")}) as opened:
        assert len(said_to_model(await opened.call("mcp_f_huge", {"n": 20_000_000}))) == 20_000_000
        assert said_to_model(await opened.call("mcp_f_flood")) == "dry"


@on_virtual_time
async def test_halves_of_characters_become_replacement_characters(session: OpenSession) -> None:
    async with session({"r": server("rude.py", "halves")}) as opened:
        assert said_to_model(await opened.call("mcp_r_slow")) == "a\ufffdb\0\x1b[31m"


@on_virtual_time
async def test_garbage_on_standard_output_marks_the_server_and_answers_still_come(
    session: OpenSession,
) -> None:
    async with session({"r": server("rude.py", "garbage")}) as opened:
        assert said_to_model(await opened.call("mcp_r_slow")) == "done"
        assert opened.manager.status("r") is McpServerStatus.DISCONNECTED
        await opened.manager.settled()
        assert opened.said() == ["error: MCP ERROR (r)"]


@on_virtual_time
async def test_connecting_again_leaves_nothing_of_the_connection_before(
    session: OpenSession,
) -> None:
    async with session({"r": server("rude.py", "garbage")}) as opened:
        await opened.call("mcp_r_slow")
        await opened.manager.discover("r", opened.manager.client("r").config)
        assert opened.manager.status("r") is McpServerStatus.CONNECTED
        assert len([child for child in _children() if "garbage" in _command(child)]) == 1


@on_virtual_time
async def test_a_changed_list_replaces_tools_resources_and_prompts(session: OpenSession) -> None:
    async with session({"f": server("fickle.py")}) as opened:
        await opened.call("mcp_f_change")
        await opened.manager.settled()
        assert opened.tools.all_names()[-1] == "mcp_f_extra_0"
        assert len(opened.manager.all_resources()) == 3
        assert [item.name for item in opened.manager.main.prompts.all()] == ["greet", "greet_0"]
        assert sorted(opened.said()) == [
            "info: Prompts updated for server: f",
            "info: Resources updated for server: f",
            "info: Tools updated for server: f",
        ]


@on_virtual_time
async def test_a_burst_of_notices_is_listed_fewer_times(session: OpenSession) -> None:
    async with session({"f": server("fickle.py")}) as opened:
        await opened.call("mcp_f_burst")
        await opened.manager.settled()
        lists = int(said_to_model(await opened.call("mcp_f_counts")).removeprefix("lists "))
        assert 2 <= lists < 20
        assert "mcp_f_extra_0" in opened.tools.all_names()


@on_virtual_time
async def test_a_notice_without_a_change_is_looked_into_twice(session: OpenSession) -> None:
    async with session({"f": server("fickle.py")}) as opened:
        before = opened.clock.now_ms()
        await opened.call("mcp_f_idle_notice")
        await opened.manager.settled()
        assert opened.clock.now_ms() - before == 500
        assert said_to_model(await opened.call("mcp_f_counts")) == "lists 3"


@on_virtual_time
async def test_progress_is_reported_by_call(session: OpenSession) -> None:
    async with session({"f": server("fickle.py")}) as opened:
        assert said_to_model(await opened.call("mcp_f_progress")) == "done"
        seen = [(item.call_id, item.progress, item.total, item.message) for item in opened.progress]
        assert seen == [
            ("call-mcp_f_progress", 1, 4, "a quarter"),
            ("call-mcp_f_progress", 2.5, None, None),
        ]


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("structured", {"n": 1}, None),
        (
            "structured",
            {"n": "x"},
            (
                "MCP error -32602: Structured content does not match the tool's output schema: "
                "data/n must be number"
            ),
        ),
        (
            "unstructured",
            {},
            (
                "MCP error -32600: Tool unstructured has an output schema but did not return "
                "structured content"
            ),
        ),
    ],
)
@on_virtual_time
@pytest.mark.sampled(4)
async def test_results_are_held_against_the_output_schema(
    session: OpenSession, tool: str, arguments: dict[str, object], message: str | None
) -> None:
    async with session({"f": server("fickle.py")}) as opened:
        error = (await opened.call(f"mcp_f_{tool}", arguments)).error
        assert (error is None) == (message is None)
        assert error is None or (message or "") in error.message


@on_virtual_time
async def test_children_get_the_clean_environment_and_their_own(session: OpenSession) -> None:
    own = {"API_KEY": "k${HOME}", "LD_PRELOAD": "evil.so"}
    async with session({"f": server("fickle.py", env=own)}) as opened:
        text = said_to_model(await opened.call("mcp_f_env"))
        variables = dict(line.split("=", 1) for line in text.splitlines())
        home = str(opened.workspace.home)
    assert variables["API_KEY"] == f"k{home}"
    assert variables["GEMINI_CLI"] == "1"
    assert variables["HOME"] == home
    assert not {"LD_PRELOAD", "USER", "LOGNAME", "VIRTUAL_ENV"} & set(variables)


@on_virtual_time
@pytest.mark.slow
async def test_what_a_server_has_started_ends_with_it(session: OpenSession, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    async with session({"f": server("fickle.py")}) as opened:
        await opened.call("mcp_f_fork", {"mark": str(mark)})
        pid = int(mark.read_text())
        assert alive(pid)
    assert ends(pid)


@on_virtual_time
async def test_a_server_that_refuses_to_end_is_killed(session: OpenSession) -> None:
    async with session({"r": server("rude.py", "deaf")}) as opened:
        assert opened.tools.all_names() == ["mcp_r_slow"]
        children = [child for child in _children() if "deaf" in _command(child)]
        assert len(children) == 1
    assert not any("deaf" in _command(child) for child in _children())


@pytest.mark.parametrize(
    ("way", "message"),
    [
        ("silent", "MCP error -32001: Request timed out"),
        ("dies", CLOSED),
        ("wrong_version", "Server's protocol version is not supported: 1999-01-01"),
        ("empty", "No prompts, tools, or resources found on the server."),
        ("odd", 'Invalid input: expected \\"object\\"'),
    ],
)
@on_virtual_time
async def test_one_bad_server_does_not_stop_the_others(
    session: OpenSession, way: str, message: str
) -> None:
    # The others say what is wrong by themselves, on a slow machine after more than a second.
    limit = {"timeout": 700} if way == "silent" else {}
    servers = {"bad": server("rude.py", way, **limit), "good": server("rude.py", "plain")}
    async with session(servers, start=False) as opened:
        opened.manager.diagnostics.user_interacted()
        await opened.manager.start()
        assert opened.tools.all_names() == ["mcp_good_slow"]
        assert any(message in line.replace('"', '\\"') or message in line for line in opened.said())
    assert not any("rude.py" in _command(child) for child in _children())


@on_virtual_time
async def test_troubles_are_only_hinted_at_until_servers_are_used(session: OpenSession) -> None:
    servers = {"a": {"command": "/no/such/program"}, "b": server("rude.py", "dies")}
    async with session(servers) as opened:
        assert opened.said() == ["info: MCP issues detected. Run /mcp list for status."]


@on_virtual_time
async def test_only_the_first_page_of_tools_is_read(session: OpenSession) -> None:
    async with session({"r": server("rude.py", "paged")}) as opened:
        assert opened.tools.all_names() == ["mcp_r_first"]


@on_virtual_time
@pytest.mark.contract("P-153")
async def test_lists_decide_which_servers_and_tools_there_are(session: OpenSession) -> None:
    wanted = ["echo", "env(x)", "hang"]
    servers = {
        "f": server("fickle.py", includeTools=wanted, excludeTools=["hang"]),
        "r": server("rude.py", "plain"),
        "q": server("rude.py", "plain"),
    }
    lists = {"allowed_mcp_servers": ("f", "r"), "blocked_mcp_servers": ("r",)}
    async with session(servers, **lists) as opened:
        assert opened.tools.all_names() == ["mcp_f_echo", "mcp_f_env"]
        assert opened.manager.blocked == ["r", "q"]
        assert opened.manager.status("q") is McpServerStatus.BLOCKED


@on_virtual_time
async def test_core_tools_do_not_hide_the_tools_of_servers(session: OpenSession) -> None:
    async with session({"r": server("rude.py", "plain")}, core_tools=("read_file",)) as opened:
        assert opened.tools.all_names() == ["mcp_r_slow"]


@on_virtual_time
async def test_nothing_starts_in_a_folder_that_is_not_trusted(session: OpenSession) -> None:
    async with session({"r": server("rude.py", "plain")}, folder_trusted=False) as opened:
        assert opened.tools.all_names() == []


@on_virtual_time
async def test_a_session_that_fails_ends_its_servers(session: OpenSession) -> None:
    with pytest.raises(LookupError, match="on purpose"):
        async with session({"r": server("rude.py", "plain")}):
            raise LookupError("on purpose")
    assert not any("rude.py" in _command(child) for child in _children())


@on_virtual_time
async def test_a_session_that_is_cancelled_ends_its_servers(session: OpenSession) -> None:
    ready = asyncio.Event()

    async def work() -> None:
        async with session({"r": server("rude.py", "plain")}):
            ready.set()
            await asyncio.Event().wait()

    task = asyncio.get_running_loop().create_task(work())
    await ready.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not any("rude.py" in _command(child) for child in _children())


@on_virtual_time
async def test_an_idle_server_holds_no_time(session: OpenSession) -> None:
    async with session({"r": server("rude.py", "plain")}) as opened:
        started = time.perf_counter()
        await opened.clock.sleep(3_600_000)
        assert time.perf_counter() - started < 60


def _children() -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == os.getpid() and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""
