// The core's half of the subjects of mcp_servers.py.
const SDK = '../../../../@modelcontextprotocol/sdk/dist/esm';
const KINDS = ['Insecure', 'Loopback', 'Invalid', 'points to private'];

export async function endpoint({ url, local }, load) {
  const { validateOAuthEndpointUrl } = await load('mcp/oauth-utils.js');
  try {
    await validateOAuthEndpointUrl(url, { allowLoopback: local });
    return { allowed: true };
  } catch (error) {
    return { refused: KINDS.find((kind) => error.message.includes(kind)) ?? 'other' };
  }
}

export async function loopback(url, load) {
  const { isLoopbackUrl } = await load('mcp/oauth-utils.js');
  return isLoopbackUrl(url);
}

export async function discovered({ capabilities, ask, answers }, load) {
  const { discoverPrompts, discoverResources, discoverTools } = await load('tools/mcp-client.js');
  const { McpError } = await load(`${SDK}/types.js`);
  const calls = [];
  const reports = [];
  const left = [...answers];
  const next = (method, params) => {
    calls.push([method, params]);
    const answer = left.shift();
    if (answer.code === undefined) return answer;
    throw new McpError(answer.code, answer.message);
  };
  const client = {
    getServerCapabilities: () => capabilities,
    listTools: async (params) => next('tools/list', params),
    listPrompts: async (params) => next('prompts/list', params),
    getPrompt: async (params) => next('prompts/get', params),
    request: async ({ method, params }) => next(method, params),
  };
  const config = {
    emitMcpDiagnostic: (severity, message) => reports.push([severity, message]),
    setUserInteractedWithMcp: () => reports.push('interacted'),
  };
  let found;
  try {
    if (ask === 'tools') {
      found = (await discoverTools('s', {}, client, config, {})).map((tool) => tool.serverToolName);
    } else if (ask === 'prompts') {
      found = (await discoverPrompts('s', client, config)).map((prompt) => prompt.name);
    } else if (ask === 'resources') {
      found = (await discoverResources('s', client, config)).map((each) => [each.uri, each.name]);
    } else {
      const [prompt] = await discoverPrompts('s', client, config);
      found = await prompt.invoke(ask);
    }
  } catch (error) {
    found = { failed: error.message };
  }
  return { calls, reports, found };
}

export async function diagnostics(steps, load) {
  const { McpClientManager } = await load('tools/mcp-client-manager.js');
  const { coreEvents } = await load('utils/events.js');
  const manager = new McpClientManager('1', {}, {});
  const seen = [];
  const own = coreEvents.emitFeedback;
  coreEvents.emitFeedback = (severity, message) => seen.push([severity, message]);
  for (const [severity, message] of steps) {
    if (severity === 'interacted') manager.setUserInteractedWithMcp();
    else manager.emitDiagnostic(severity, message);
  }
  coreEvents.emitFeedback = own;
  return seen;
}

export async function progress(steps, load) {
  const { McpClient } = await load('tools/mcp-client.js');
  const { coreEvents, CoreEvent } = await load('utils/events.js');
  const { ProgressNotificationSchema } = await load(`${SDK}/types.js`);
  const client = new McpClient('s', {}, {}, {}, false, '1');
  let take;
  client.client = {
    getServerCapabilities: () => ({}),
    setNotificationHandler: (schema, handler) => {
      if (schema === ProgressNotificationSchema) take = handler;
    },
  };
  client.registerNotificationHandlers();
  const seen = [];
  const note = ({ serverName, callId, progress: done, total, message }) =>
    seen.push([serverName, callId, done, total ?? null, message ?? null]);
  coreEvents.on(CoreEvent.McpProgress, note);
  for (const [method, ...given] of steps) {
    if (method === 'open') client.registerProgressToken(...given);
    else if (method === 'close') client.unregisterProgressToken(...given);
    else {
      const message = { method: 'notifications/progress', params: given[0] };
      const parsed = ProgressNotificationSchema.safeParse(message);
      if (parsed.success) take(parsed.data);
    }
  }
  coreEvents.off(CoreEvent.McpProgress, note);
  return seen;
}

export async function wants_sign_in({ kind, code, message }, load) {
  const { isAuthenticationError, UnauthorizedError } = await load('utils/errors.js');
  const { StreamableHTTPError } = await load(`${SDK}/client/streamableHttp.js`);
  const { McpError } = await load(`${SDK}/types.js`);
  const errors = {
    http: () => new StreamableHTTPError(code, message),
    mcp: () => new McpError(code, message),
    unauthorized: () => new UnauthorizedError(message),
    plain: () => new Error(message),
  };
  return isAuthenticationError(errors[kind]());
}
