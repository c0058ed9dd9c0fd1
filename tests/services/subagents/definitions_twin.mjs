// Reads definitions with the published core: argv[2] is the package, stdin the jobs (JSON).
import { mkdtempSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import os from 'node:os';
import path from 'node:path';

// What the core keeps in the user's home must not be the user's own.
process.env.GEMINI_CLI_HOME = mkdtempSync(path.join(os.tmpdir(), 'twin-'));
const dist = path.join(process.argv[2], 'dist', 'src');
const load = (file) => import(pathToFileURL(path.join(dist, file)).href);

async function registry(job) {
  const { AgentRegistry } = await load('agents/registry.js');
  const { AcknowledgedAgentsService } = await load('agents/acknowledgedAgents.js');
  const { coreEvents } = await load('utils/events.js');
  const { Storage } = await load('config/storage.js');
  Storage.getUserAgentsDir = () => path.join(job.home, '.gemini', 'agents');
  Storage.getAcknowledgedAgentsPath = () =>
    path.join(job.home, '.gemini', 'acknowledgments', 'agents.json');
  const feedback = [];
  coreEvents.emitFeedback = (severity, message) => void feedback.push([severity, message]);
  coreEvents.emitAgentsDiscovered = (agents) => void feedback.push(agents.map((each) => each.name));
  const models = [];
  const config = {
    getModel: () => job.model,
    getAgentsSettings: () => ({ overrides: job.overrides }),
    isAgentsEnabled: () => true,
    getFolderTrust: () => true,
    isTrustedFolder: () => job.trusted,
    getProjectRoot: () => job.root,
    storage: { getProjectAgentsDir: () => path.join(job.root, '.gemini', 'agents') },
    getAcknowledgedAgentsService: () => new AcknowledgedAgentsService(),
    getExtensions: () => [],
    getDebugMode: () => false,
    getPolicyEngine: () => undefined,
    getBrowserAgentConfig: () => ({ enabled: false }),
    getA2AClientManager: () => undefined,
    getApprovalMode: () => 'default',
    messageBus: undefined,
    modelConfigService: {
      registerRuntimeModelConfig: (name, alias) => void models.push([name, alias.modelConfig]),
      registerRuntimeModelOverride: (each) => void models.push([each.match, each.modelConfig]),
    },
  };
  config.config = config;
  config.toolRegistry = { getAllToolNames: () => job.tools };
  const found = new AgentRegistry(config);
  await found.initialize();
  const about = (agent) => ({
    name: agent.name,
    displayName: agent.displayName,
    model: agent.modelConfig.model,
    generation: agent.modelConfig.generateContentConfig,
    minutes: agent.runConfig.maxTimeMinutes,
    turns: agent.runConfig.maxTurns,
    tools: agent.toolConfig?.tools.map((tool) => tool.name ?? tool),
    servers: agent.mcpServers,
    inputs: Object.keys(agent.inputConfig.inputSchema.properties),
    output: agent.outputConfig?.outputName,
    outputFields: agent.outputConfig && Object.keys(agent.outputConfig.schema.shape),
  });
  return {
    agents: found.getAllDefinitions().map(about),
    discovered: found.getAllDiscoveredAgentNames(),
    feedback,
    models,
  };
}

const kinds = { registry };
let input = '';
for await (const chunk of process.stdin) input += chunk;
const answers = [];
for (const job of JSON.parse(input)) answers.push(await kinds[job.kind](job));
// The core keeps handles open, and what it logs must not mix with the answer.
process.stderr.write(`\0${JSON.stringify(answers)}`, () => process.exit(0));
