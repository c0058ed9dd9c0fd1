// The core's half of the subjects of agent_registry.py.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export async function required({ schemes, auth }, load) {
  const { A2AAuthProviderFactory: Factory } = await load('agents/auth-provider/factory.js');
  try {
    const { valid } = Factory.validateAuthConfig(auth ?? undefined, schemes);
    return valid ? null : Factory.describeRequiredAuth(schemes);
  } catch (error) {
    return { error: error.message };
  }
}

const write = (base, files) => {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(base, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    if (text === null) fs.unlinkSync(file);
    else fs.writeFileSync(file, text);
  }
};

const filled = (value) => (value && Object.keys(value).length > 0 ? value : null);
const given = (fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => (value ?? null) !== null));

const about = (agent) => {
  const common = {
    name: agent.name,
    description: agent.description,
    displayName: agent.displayName,
    hash: agent.metadata?.hash?.slice(0, 24),
    kind: agent.kind,
  };
  if (agent.kind === 'remote') return given(common);
  return given({
    ...common,
    model: agent.modelConfig.model,
    generation: filled(agent.modelConfig.generateContentConfig),
    minutes: agent.runConfig.maxTimeMinutes,
    turns: agent.runConfig.maxTurns,
    tools: agent.toolConfig?.tools,
    servers: filled(agent.mcpServers),
  });
};

export async function play(asked, load) {
  const { AgentRegistry, DYNAMIC_RULE_SOURCE } = await load('agents/registry.js');
  const { AcknowledgedAgentsService } = await load('agents/acknowledgedAgents.js');
  const { A2AAgentError } = await load('agents/a2a-errors.js');
  const { loadAgentsFromDirectory } = await load('agents/agentLoader.js');
  const { coreEvents } = await load('utils/events.js');
  const { Storage } = await load('config/storage.js');
  const base = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'answers-')));
  write(base, asked.files);
  Storage.getUserAgentsDir = () => path.join(base, 'home', '.gemini', 'agents');
  Storage.getAcknowledgedAgentsPath = () => path.join(base, 'home', '.gemini', 'acknowledged');
  let settings = asked;
  let model = asked.model;
  let seen = [];
  let rules = [];
  let unknown = [];
  coreEvents.emitFeedback = (severity, message) =>
    void seen.push([severity, message.replaceAll(base, 'BASE')]);
  coreEvents.emitAgentsDiscovered = (agents) => {
    unknown = agents;
    seen.push(['discovered', ...agents.map((each) => each.name)]);
  };
  coreEvents.emitAgentsRefreshed = () => void seen.push(['refreshed']);
  const service = new AcknowledgedAgentsService();
  const client = {
    clearCache: () => void rules.push('cleared'),
    loadAgent: async (name) => {
      const card = asked.cards[name];
      if (typeof card === 'string') throw new Error(card);
      if (card.problem) throw new A2AAgentError(name, 'other', card.problem);
      return card;
    },
  };
  const overrides = new Map();
  let extension = [];
  const config = {
    getModel: () => model,
    getAgentsSettings: () => ({ overrides: settings.overrides ?? {} }),
    isAgentsEnabled: () => settings.enabled ?? true,
    getFolderTrust: () => settings.folderTrust ?? true,
    isTrustedFolder: () => settings.trusted ?? true,
    getProjectRoot: () => path.join(base, 'ws'),
    storage: { getProjectAgentsDir: () => path.join(base, 'ws', '.gemini', 'agents') },
    getAcknowledgedAgentsService: () => service,
    getExtensions: () => [{ isActive: true, agents: extension }],
    getDebugMode: () => false,
    getPolicyEngine: () => ({
      removeRulesBySource: (source) => void rules.push(source),
      hasRuleForTool: () => false,
      addRule: ({ argsPattern }) =>
        void rules.push(argsPattern.source.replace(/.*"([^"]+)"$/, '$1')),
    }),
    getA2AClientManager: () => (asked.loader ?? true ? client : undefined),
    reloadAgents: async () => {},
    modelConfigService: {
      registerRuntimeModelConfig: (name, { modelConfig }) =>
        void seen.push([name, modelConfig.model, filled(modelConfig.generateContentConfig)]),
      registerRuntimeModelOverride: ({ match, modelConfig }) => {
        // The core registers the same one at every change of the model.
        const config = filled(modelConfig.generateContentConfig);
        const text = JSON.stringify(config);
        if (overrides.get(match.overrideScope) !== text) seen.push([match, config]);
        overrides.set(match.overrideScope, text);
      },
    },
  };
  const registry = new AgentRegistry(config);
  registry.loadBuiltInAgents = () => {};
  const readExtension = async () => {
    extension = (await loadAgentsFromDirectory(path.join(base, 'ext'))).agents;
  };
  const calls = {
    load: async () => {
      await readExtension();
      await registry.initialize();
    },
    reload: async (files, changed) => {
      if (changed) settings = changed;
      write(base, files);
      await readExtension();
      const result = await registry.reload();
      return { ...result, errors: result.errors.length };
    },
    acknowledge: async (name) => {
      const agent = unknown.find((each) => each.name === name);
      unknown = unknown.filter((each) => each.name !== name);
      if (agent) await registry.acknowledgeAgent(agent);
    },
    definition: (name) => {
      const found = registry.getDefinition(name);
      const plain = registry.getDiscoveredDefinition(name);
      return [found ? about(found) : null, plain ? about(plain) : null];
    },
    model: async (name) => {
      model = name;
      coreEvents.emitModelChanged(name);
      await new Promise((resolve) => setTimeout(resolve, 5));
    },
    close: () => registry.dispose(),
  };
  const shown = [];
  let before;
  for (const [call, ...given] of asked.calls) {
    seen = [];
    rules = [];
    const answer = (await calls[call](...given)) ?? null;
    const agents = registry.getAllDefinitions().map(about);
    const text = JSON.stringify(agents);
    const known = text === before;
    before = text;
    shown.push({
      answer,
      seen,
      rules: rules.map((each) => (each === DYNAMIC_RULE_SOURCE ? 'removed' : each)),
      agents: known ? 'as before' : agents,
      names: registry.getAllAgentNames(),
      texts: known ? [] : agents.map(({ name, description }) => [name, description]),
      discovered: registry.getAllDiscoveredAgentNames(),
    });
  }
  registry.dispose();
  fs.rmSync(base, { recursive: true });
  return shown;
}
