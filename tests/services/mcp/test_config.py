"""How servers are configured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from services.mcp.config import (
    McpConfigError,
    McpServerConfig,
    command_server,
    merge_configs,
    server_configs,
)
from services.mcp.environment import expand_variables
from services.settings import settings_from_file, settings_from_parameters


def parsed(**raw: Any) -> McpServerConfig:
    return McpServerConfig.parse("s", raw)


def test_every_key_has_its_field() -> None:
    config = parsed(
        command="c", args=["a"], env={"A": "1", "B": 2}, cwd="sub", timeout=5, trust=True,
        description="d", includeTools=["x"], excludeTools=["y"], unknown=1,
    )  # fmt: skip
    assert config.command == "c"
    assert config.env == {"A": "1", "B": "2"}
    assert config.cwd == Path("sub")
    assert config.timeout_s == 0.005
    assert config.trust is True
    assert config.include_tools == ("x",)
    assert parsed(httpUrl="h", url="u").endpoint == "h"
    assert parsed().timeout_s == 600
    assert not parsed(excludeTools=["x"]).reachable


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("args", "x", "a list of texts expected, not 'x'"),
        ("timeout", "5", "a number expected, not '5'"),
        ("trust", "yes", "true or false expected, not 'yes'"),
        ("type", "tcp", "one of http, sse expected, not 'tcp'"),
        ("env", ["A"], "a mapping of texts expected, not ['A']"),
    ],
)
def test_a_wrong_value_is_named_with_its_place(key: str, value: Any, problem: str) -> None:
    with pytest.raises(McpConfigError) as refused:
        server_configs({"s": {key: value}})
    assert str(refused.value) == f"mcpServers.s.{key}: {problem}"


def test_includes_are_intersected_and_excludes_united() -> None:
    base = parsed(command="c", includeTools=["a", "b"], excludeTools=["x"], env={"A": "1"})
    merged = merge_configs(
        base, parsed(includeTools=["b", "c"], excludeTools=["y", "x"], env={"B": "2"}, timeout=7)
    )
    assert merged.include_tools == ("b",)
    assert merged.exclude_tools == ("x", "y")
    assert merged.env == {"A": "1", "B": "2"}
    assert (merged.command, merged.timeout_ms) == ("c", 7)
    assert merge_configs(base, parsed(includeTools=["z"])).include_tools == ()
    assert merge_configs(base, parsed(trust=False)).include_tools == ("a", "b")


def test_equal_configurations_have_equal_keys() -> None:
    one, other = (
        parsed(command="c", env={"A": "1", "B": "2"}),
        parsed(env={"B": "2", "A": "1"}, command="c"),
    )
    assert one.key("s") == other.key("s")
    assert one.key("s") != one.key("t")
    assert one.key("s") != parsed(command="c", args=["x"]).key("s")


def test_a_command_line_is_a_server_called_mcp() -> None:
    made = command_server("""node 'my server.js' --a="b c" d\\ e""")
    assert made["mcp"].command == "node"
    assert made["mcp"].args == ("my server.js", "--a=b c", "d e")
    assert command_server(None) == {}
    with pytest.raises(McpConfigError, match="failed to parse mcpServerCommand"):
        command_server("a | b")


def test_settings_lead_to_servers_by_both_names() -> None:
    servers = {"s": {"command": "c"}}
    given = settings_from_parameters(
        {"mcpServers": servers, "allowedMcpServers": ["s"], "allowedEnvironmentVariables": ["X"]}
    )
    assert given.mcp_servers == servers
    assert given.allowed_mcp_servers == ("s",)
    assert given.allowed_environment_variables == ("X",)
    read = settings_from_file(
        {"mcpServers": servers, "mcp": {"excluded": ["t"], "serverCommand": "x"}}
    )
    assert read.blocked_mcp_servers == ("t",)
    assert read.mcp_server_command == "x"


def test_variables_that_produce_each_other_come_to_an_end() -> None:
    assert "a" in expand_variables("x$E", {"E": "a$E"})
