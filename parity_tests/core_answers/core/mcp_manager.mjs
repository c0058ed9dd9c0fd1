// The core's half of the subjects of mcp_manager.py.
export async function play({ servers, configured, allowed, blocked, steps }, load) {
  const { McpClient, MCPServerStatus } = await load('tools/mcp-client.js');
  const { McpClientManager } = await load('tools/mcp-client-manager.js');
  const events = {};
  const diagnostics = [];
  const off = new Set();
  let trusted = true;
  const note = (name, event) => (events[name] ??= []).push(event);
  const reads = ({ command, args, env, url, httpUrl, includeTools, excludeTools, trust }) =>
    JSON.parse(
      JSON.stringify({ command, args, env, url, httpUrl, includeTools, excludeTools, trust }),
    );
  McpClient.prototype.connect = async function () {
    note(this.serverName, ['connect', reads(this.serverConfig)]);
    const problem = servers[this.serverName]?.unreachable;
    if (problem) throw new Error(problem);
    this.status = MCPServerStatus.CONNECTED;
  };
  McpClient.prototype.discoverInto = async function (_, { name }) {
    note(this.serverName, ['discover', name]);
    const problem = servers[this.serverName]?.broken;
    if (problem) throw new Error(problem);
  };
  McpClient.prototype.disconnect = async function () {
    note(this.serverName, ['disconnect']);
    this.status = MCPServerStatus.DISCONNECTED;
  };
  McpClient.prototype.removeRegistries = function ({ name }) {
    note(this.serverName, ['left', name]);
  };
  McpClient.prototype.getInstructions = function () {
    return servers[this.serverName]?.instructions;
  };
  const manager = new McpClientManager('1', {
    getAllowedMcpServers: () => allowed,
    getBlockedMcpServers: () => blocked,
    getMcpEnablementCallbacks: () => ({
      isSessionDisabled: () => false,
      isFileEnabled: async (name) => !off.has(name),
    }),
    isTrustedFolder: () => trusted,
    getMcpServers: () => configured,
    getMcpServerCommand: () => undefined,
    getWorkspaceContext: () => undefined,
    getDebugMode: () => false,
  });
  manager.scheduleMcpContextRefresh = async () => {};
  manager.emitDiagnostic = (severity, message) => diagnostics.push([severity, message]);
  manager.setMainRegistries({
    toolRegistry: {},
    promptRegistry: {},
    resourceRegistry: {},
  });
  const discoverInto = McpClient.prototype.discoverInto;
  McpClient.prototype.discoverInto = function (config, registries) {
    return discoverInto.call(this, config, registries.name ? registries : { name: 'main' });
  };
  const agents = {};
  const agent = (name) => (agents[name] ??= { name });
  const extension = (name, mcpServers) => ({ id: name, name, isActive: true, mcpServers });
  const answers = [];
  for (const [method, ...given] of steps) {
    if (method === 'start') await manager.startConfiguredMcpServers();
    else if (method === 'discover')
      await manager.maybeDiscoverMcpServer(
        given[0],
        given[1],
        given[2] ? agent(given[2]) : undefined,
      );
    else if (method === 'restart') await manager.restart();
    else if (method === 'restart_server') {
      try {
        await manager.restartServer(given[0]);
      } catch (error) {
        answers.push(error.message);
      }
    } else if (method === 'extend') await manager.startExtension(extension(...given));
    else if (method === 'shrink') await manager.stopExtension(extension(...given));
    else if (method === 'off') off.add(given[0]);
    else if (method === 'on') off.delete(given[0]);
    else if (method === 'trust') trusted = given[0];
    else if (method === 'leave') manager.removeRegistries(agent(given[0]));
    else if (method === 'stop') await manager.stop();
    answers.push([
      manager.getMcpInstructions(),
      manager.getBlockedMcpServers().map((each) => each.name),
      Object.keys(servers).map((name) => manager.getClient(name)?.getStatus() ?? null),
    ]);
  }
  return { events, diagnostics, answers };
}
