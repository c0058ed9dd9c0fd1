// The core's half of the subjects of mcp.py.
import { createHash } from 'node:crypto';

const SDK = '../../../../@modelcontextprotocol/sdk/dist/esm';

export async function valid_name(name, load) {
  const { generateValidName } = await load('tools/mcp-tool.js');
  return generateValidName(name);
}

export async function parsed_name(name, load) {
  const { parseMcpToolName } = await load('tools/mcp-tool.js');
  const { serverName, toolName } = parseMcpToolName(name);
  return serverName === undefined ? null : [serverName, toolName];
}

export async function expanded({ text, variables }, load) {
  const { expandEnvVars } = await load('utils/envExpansion.js');
  return expandEnvVars(text, variables);
}

export async function sanitized({ variables, allowed, blocked }, load) {
  const { sanitizeEnvironment } = await load('services/environmentSanitization.js');
  return sanitizeEnvironment(variables, {
    allowedEnvironmentVariables: allowed,
    blockedEnvironmentVariables: blocked,
    enableEnvironmentVariableRedaction: true,
  });
}

export async function environment({ variables, given, extension, allowed, blocked }, load) {
  const { createTransport } = await load('tools/mcp-client.js');
  const { getDefaultEnvironment } = await load(`${SDK}/client/stdio.js`);
  const own = process.env;
  process.env = variables;
  try {
    const settings = Object.entries(extension).map(([envVar, value]) => ({ envVar, value }));
    const { transport } = await createTransport(
      'server',
      { command: 'x', env: given, extension: { resolvedSettings: settings } },
      false,
      {
        isTrustedFolder: () => true,
        sanitizationConfig: {
          allowedEnvironmentVariables: allowed,
          blockedEnvironmentVariables: blocked,
        },
      },
    );
    return { ...getDefaultEnvironment(), ...transport._serverParams.env };
  } finally {
    process.env = own;
  }
}

const SHAPES = {
  CALL_TOOL: 'CallToolResultSchema',
  GET_PROMPT: 'GetPromptResultSchema',
  INITIALIZE: 'InitializeResultSchema',
  LIST_PROMPTS: 'ListPromptsResultSchema',
  LIST_RESOURCES: 'ListResourcesResultSchema',
  LIST_TOOLS: 'ListToolsResultSchema',
  READ_RESOURCE: 'ReadResourceResultSchema',
};

/** The issues of a union are long: their beginning, and a digest of the whole. */
function brief(message) {
  if (message.length <= 300) return message;
  const digest = createHash('sha256').update(message).digest('hex');
  return `${message.slice(0, 100)}… ${digest.slice(0, 16)}`;
}

export async function shape({ name, value }, load) {
  const types = await load(`${SDK}/types.js`);
  const parsed = types[SHAPES[name]].safeParse(value);
  return parsed.success ? JSON.stringify(parsed.data) : { refused: brief(parsed.error.message) };
}

export async function compliant(result, load) {
  const { McpComplianceTransport } = await load('tools/mcp-compliance-transport.js');
  const inner = {};
  const transport = new McpComplianceTransport(inner);
  let seen;
  transport.onmessage = (message) => (seen = message);
  inner.onmessage({ jsonrpc: '2.0', id: 1, result });
  return seen.result;
}

/** Half of a surrogate pair, as it leaves the process. */
function whole(value) {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(whole);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map((pair) => pair.map(whole)));
}

export async function json(text) {
  try {
    return { value: JSON.stringify(whole(JSON.parse(text))) };
  } catch {
    return { refused: true };
  }
}

async function toolOf({ server, wire, trusted = false, response }, load) {
  const { discoverTools } = await load('tools/mcp-client.js');
  const client = {
    getServerCapabilities: () => ({ tools: {} }),
    listTools: async () => ({ tools: [structuredClone(wire)] }),
    callTool: async () => response,
  };
  const config = {
    isTrustedFolder: () => true,
    emitMcpDiagnostic: () => {},
    setUserInteractedWithMcp: () => {},
  };
  const bus = { subscribe: () => {}, publish: () => {} };
  const [tool] = await discoverTools(server, { trust: trusted }, client, config, bus);
  return tool;
}

export async function tool(asked, load) {
  const { DiscoveredMCPTool } = await load('tools/mcp-tool.js');
  const { ToolRegistry } = await load('tools/tool-registry.js');
  const found = await toolOf(asked, load);
  const { name, description, parametersJsonSchema } = found.schema;
  const registry = new ToolRegistry(
    { getApprovalMode: () => 'default', getExcludeTools: () => new Set() },
    {},
  );
  const prefix = found.getFullyQualifiedPrefix();
  const candidates = [
    found.name,
    prefix,
    found.name.slice(prefix.length),
    `${prefix}${found.name}`,
    DiscoveredMCPTool.name,
    found.serverToolName,
  ];
  return {
    schema: { name, description, parametersJsonSchema },
    shown: found.displayName,
    flags: [found.kind, found.isOutputMarkdown, found.canUpdateOutput],
    annotations: found.toolAnnotations,
    excluded: candidates.filter((each) => !registry.isActiveTool(found, new Set([each]))),
  };
}

export async function call(asked, load) {
  const found = await toolOf(asked, load);
  let invocation;
  try {
    invocation = found.build(structuredClone(asked.params));
  } catch (error) {
    return { refused: error.message };
  }
  const { llmContent, returnDisplay, error } = await invocation.execute({
    abortSignal: new AbortController().signal,
  });
  return {
    description: invocation.getDescription(),
    title: invocation.getDisplayTitle(),
    explanation: invocation.getExplanation(),
    autoEdit: invocation.respectsAutoEdit,
    policy: [
      invocation._toolName,
      invocation._serverName,
      invocation.getPolicyUpdateOptions('proceed_always'),
    ],
    llmContent,
    returnDisplay,
    error,
  };
}

export async function asked_before({ calls, trusted }, load) {
  const { DiscoveredMCPToolInvocation } = await load('tools/mcp-tool.js');
  DiscoveredMCPToolInvocation.allowlist.clear();
  const answers = [];
  for (const { server, tool: name, outcome } of calls) {
    const wire = { name, inputSchema: { type: 'object' } };
    const found = await toolOf({ server, wire, trusted }, load);
    const details = await found
      .build({ a: 1 })
      .getConfirmationDetails(new AbortController().signal);
    if (details) await details.onConfirm(outcome);
    answers.push(details ? JSON.parse(JSON.stringify(details)) : null);
  }
  return answers;
}

export async function enables({ tool: name, config }, load) {
  const { isEnabled } = await load('tools/mcp-client.js');
  return isEnabled({ name }, 'server', config);
}

export async function merged({ base, override }, load) {
  const { McpClientManager } = await load('tools/mcp-client-manager.js');
  const { excludeTools = [], env = {}, ...rest } = McpClientManager.prototype.mergeMcpConfigs(
    base,
    override,
  );
  return { ...rest, excludeTools, env };
}

export async function command(line, load) {
  const { populateMcpServerCommand } = await load('tools/mcp-client.js');
  try {
    return populateMcpServerCommand({}, line);
  } catch (error) {
    return { refused: error.message };
  }
}

export async function prompts(calls, load) {
  const { PromptRegistry } = await load('prompts/prompt-registry.js');
  const registry = new PromptRegistry();
  const plain = (prompt) => prompt && [prompt.name, prompt.serverName, prompt.text];
  const answers = [];
  for (const [method, ...given] of calls) {
    if (method === 'register') {
      const [name, serverName, text] = given;
      registry.registerPrompt({ name, serverName, text });
    } else if (method === 'remove') registry.removePromptsByServer(given[0]);
    else if (method === 'get') answers.push(plain(registry.getPrompt(given[0])) ?? null);
    else if (method === 'of_server')
      answers.push(registry.getPromptsByServer(given[0]).map(plain));
    else answers.push(registry.getAllPrompts().map(plain));
  }
  return answers;
}

export async function resources(calls, load) {
  const { ResourceRegistry } = await load('resources/resource-registry.js');
  const registry = new ResourceRegistry();
  const plain = (each) => each && [each.serverName, each.uri, each.name];
  const answers = [];
  for (const [method, ...given] of calls) {
    if (method === 'set') {
      const [server, listed] = given;
      registry.setResourcesForServer(
        server,
        listed.map(([uri, name]) => ({ uri, name })),
      );
    } else if (method === 'remove') registry.removeResourcesByServer(given[0]);
    else if (method === 'find') answers.push(plain(registry.findResourceByUri(given[0])) ?? null);
    else if (method === 'of_server')
      answers.push(registry.getResourcesByServer(given[0]).map(plain));
    else answers.push(registry.getAllResources().map(plain));
  }
  return answers;
}

export const result_shape = shape;
export const list_shape = shape;
export const tools_shape = shape;
