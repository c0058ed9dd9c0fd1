"""MCP servers: configuration, connections, and the tools, prompts and resources they lend.

`session.open_mcp` is the way in: its `McpManager` owns one `McpClient` per configured server, and
each of those at most one `Connection`, which lives in a task of its own.
"""
