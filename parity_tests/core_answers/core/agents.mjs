// The core's half of the subjects of agents.py.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const copied = (value) => JSON.parse(JSON.stringify(value));

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
const short = ({ state, recentActivity: items }) =>
  [state, ...items.map(({ type, status }) => `${type} ${status}`)].join('; ');

export async function sanitised(value, load) {
  const core = await load('utils/agent-sanitization-utils.js');
  return [
    typeof value === 'string' ? core.sanitizeErrorMessage(value) : null,
    core.sanitizeToolArgs(value),
  ];
}

export async function run(asked, load) {
  const { LocalAgentExecutor } = await load('agents/local-executor.js');
  const kind = asked.session ? 'local-session-invocation' : 'local-invocation';
  const module = await load(`agents/${kind}.js`);
  const Invocation = module.LocalSessionInvocation ?? module.LocalSubagentInvocation;
  const { outputs, published } = { outputs: [], published: [] };
  let given = null;
  LocalAgentExecutor.create = async (_definition, _context, onActivity) => {
    if ('broken' in asked) throw new Error(asked.broken);
    return {
      agentId: 'AGENT',
      run: async (inputs) => {
        given = inputs;
        for (const [type, data] of asked.activities) onActivity({ type, data });
        if ('error' in asked) {
          const error = new Error(asked.error);
          if (asked.errorName) error.name = asked.errorName;
          throw error;
        }
        return { result: asked.output[0], terminate_reason: asked.output[1] };
      },
    };
  };
  const bus = { publish: (m) => void published.push(copied([m.subagentName, m.activity])) };
  const definition = { name: 'helper', displayName: asked.displayName };
  const call = new Invocation(definition, {}, asked.params, bus);
  let end;
  try {
    const result = await call.execute({
      abortSignal: new AbortController().signal,
      updateOutput: asked.silent ? undefined : (shown) => void outputs.push(copied(shown)),
    });
    const display = copied(result.returnDisplay);
    const asShown = outputs.length && same(outputs.at(-1), display);
    end = [result.llmContent, asShown ? 'as shown' : display, result.data];
  } catch (error) {
    end = [error.name, error.message];
  }
  const shown = {
    description: call.getDescription(),
    given,
    outputs: outputs.map(short),
    last: outputs.at(-1) ?? null,
    published,
    end,
  };
  const seen = new Map();
  const numbered = (id) => {
    if (!seen.has(id)) seen.set(id, `id-${seen.size}`);
    return seen.get(id);
  };
  return JSON.parse(JSON.stringify(shown).replace(UUID, numbered));
}

export async function events(activities, load) {
  const { LocalAgentExecutor } = await load('agents/local-executor.js');
  const { LocalSubagentSession } = await load('agents/local-subagent-protocol.js');
  LocalAgentExecutor.create = async (_definition, _context, onActivity) => ({
    run: async () => {
      for (const [type, data] of activities) onActivity({ type, data });
      return { result: '', terminate_reason: 'GOAL' };
    },
  });
  const session = new LocalSubagentSession({ name: 'helper' }, {}, {});
  await session.send({ message: { content: [{ type: 'text', text: 'q' }] } });
  await session.getResult();
  return session.events
    .filter(({ type }) => !['agent_start', 'agent_end'].includes(type))
    .map(({ id, streamId, timestamp, ...rest }) => rest);
}

export async function known({ project, file, blocked, calls }, load) {
  const { AcknowledgedAgentsService } = await load('agents/acknowledgedAgents.js');
  const { Storage } = await load('config/storage.js');
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'answers-'));
  const folder = path.join(home, '.gemini', 'acknowledgments');
  const at = path.join(folder, 'agents.json');
  Storage.getAcknowledgedAgentsPath = () => at;
  if (file !== null) {
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(at, file);
  }
  if (blocked) {
    fs.mkdirSync(path.dirname(folder), { recursive: true });
    fs.writeFileSync(folder, '');
  }
  const service = new AcknowledgedAgentsService();
  const answers = [];
  for (const [name, hash, add] of calls) {
    answers.push(
      add
        ? (await service.acknowledge(project, name, hash)) ?? null
        : await service.isAcknowledged(project, name, hash),
    );
  }
  let left = null;
  let here = [];
  try {
    left = fs.readFileSync(at, 'utf8');
    here = fs.readdirSync(folder).sort();
  } catch {
    // There is no file.
  }
  fs.rmSync(home, { recursive: true });
  return [answers, left, here];
}

export async function completed({ output: kind, process: processed, params }, load) {
  const { CompleteTaskTool } = await load('tools/complete-task.js');
  const { z } = createRequire(path.join(process.argv[2], 'package.json'))('zod');
  const shapes = {
    text: z.string(),
    object: z.object({ answer: z.string(), list: z.array(z.number()) }),
  };
  const output = kind ? { outputName: 'report', description: 'd', schema: shapes[kind] } : undefined;
  const process_ = processed ? (value) => `<${value}>` : undefined;
  const tool = new CompleteTaskTool({ publish() {} }, output, process_);
  const about = [tool.name, tool.displayName, tool.description, tool.kind, tool.schema];
  const asked = JSON.stringify(params);
  let call;
  try {
    call = tool.build(params);
  } catch (error) {
    return [asked === '{}' ? about : null, error.message];
  }
  const done = await call.execute({ abortSignal: new AbortController().signal });
  const shown = [call.getDescription(), done.llmContent, done.returnDisplay, done.data];
  return [asked === '{"result":"x"}' ? about : null, shown];
}
