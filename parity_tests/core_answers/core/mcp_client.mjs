// The core's half of the subjects of mcp_client.py.
const SDK = '../../../../@modelcontextprotocol/sdk/dist/esm';

function described(kind, name) {
  if (kind === 'tools') return { name, inputSchema: { type: 'object' } };
  return kind === 'prompts' ? { name } : { uri: name, name };
}

export async function play({ servers, steps }, load) {
  const { McpClient, MCPServerStatus } = await load('tools/mcp-client.js');
  const { ToolRegistry } = await load('tools/tool-registry.js');
  const { PromptRegistry } = await load('prompts/prompt-registry.js');
  const { ResourceRegistry } = await load('resources/resource-registry.js');
  const { McpError, ...schemas } = await load(`${SDK}/types.js`);
  const HANDLED = new Map([
    [schemas.ToolListChangedNotificationSchema, 'tools'],
    [schemas.PromptListChangedNotificationSchema, 'prompts'],
    [schemas.ResourceListChangedNotificationSchema, 'resources'],
  ]);
  let seen = [];
  let later = null;
  let again = [];
  const lists = {};
  const handlers = {};
  const config = new Proxy(
    { emitMcpDiagnostic: (severity, message) => seen.push([severity, message]) },
    { get: (own, key) => own[key] ?? (() => undefined) },
  );
  const sdk = (server) => {
    const next = (kind, options) => {
      seen.push([server, `${kind}/list`, options?.timeout ?? 60000]);
      if (again[0] === kind && again[1] > 0) {
        again[1] -= 1;
        void handlers[server][kind]?.();
      }
      const found = lists[server]?.[kind] ?? [];
      if (!Array.isArray(found)) throw new McpError(found.code, found.message);
      return { [kind]: found.map((name) => described(kind, name)) };
    };
    return {
      getServerCapabilities: () => servers[server].capabilities,
      setNotificationHandler: (schema, handler) => {
        (handlers[server] ??= {})[HANDLED.get(schema)] = handler;
      },
      listTools: async (_, options) => next('tools', options),
      listPrompts: async (_, options) => next('prompts', options),
      request: async (_, __, options) => next('resources', options),
      close: async () => seen.push([server, 'closed']),
    };
  };
  const clients = {};
  const registries = {};
  const agent = (name) =>
    (registries[name] ??= {
      toolRegistry: new ToolRegistry(config, {}),
      promptRegistry: new PromptRegistry(),
      resourceRegistry: new ResourceRegistry(),
    });
  const wait = globalThis.setTimeout;
  globalThis.setTimeout = (work, ms, ...given) => {
    if (ms !== 500) return wait(work, ms, ...given).unref();
    seen.push('waits');
    if (later !== null) lists[later[0]][later[1]] = later[2];
    later = null;
    return queueMicrotask(work);
  };
  const answers = [];
  for (const [method, server, ...given] of steps) {
    seen = [];
    const client = (clients[server] ??= new McpClient(server, servers[server].config, {}, config));
    if (method === 'connect') {
      client.client = sdk(server);
      client.registerNotificationHandlers();
      client.status = MCPServerStatus.CONNECTED;
    } else if (method === 'offer') (lists[server] ??= {})[given[0]] = given[1];
    else if (method === 'discover') {
      try {
        await client.discoverInto(config, agent(given[0]));
      } catch (error) {
        seen.push(error.message);
      }
    } else if (method === 'leave') client.removeRegistries(agent(given[0]));
    else if (method === 'disconnect') await client.disconnect();
    else {
      later = given[1] === null ? null : [server, given[0], given[1]];
      again = [given[0], Number(given[2])];
      await handlers[server]?.[given[0]]?.();
    }
    if (['connect', 'offer'].includes(method)) continue;
    answers.push([
      seen,
      client.getStatus(),
      Object.values(registries).map((each) => [
        each.toolRegistry.getActiveTools().map((tool) => tool.name),
        each.toolRegistry.getToolsByServer(server).map((tool) => tool.serverToolName),
        each.promptRegistry.getAllPrompts().map((prompt) => [prompt.name, prompt.serverName]),
        each.resourceRegistry.getAllResources().map((found) => [found.uri, found.serverName]),
      ]),
    ]);
  }
  globalThis.setTimeout = wait;
  return answers;
}
