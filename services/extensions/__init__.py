"""Extensions: folders that bring context, MCP servers, commands, skills, hooks and agents."""
