// Runs parts of the published core on given values: argv[2] is the package, stdin the jobs (JSON).
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import path from 'node:path';

const dist = path.join(process.argv[2], 'dist', 'src');
const load = (file) => import(pathToFileURL(path.join(dist, file)).href);
const require = createRequire(path.join(process.argv[2], 'package.json'));
const text = (value) => (value === undefined ? null : JSON.stringify(value));

async function invocation(job) {
  const { LocalAgentExecutor } = await load('agents/local-executor.js');
  const kind = job.session ? 'local-session-invocation' : 'local-invocation';
  const module = await load(`agents/${kind}.js`);
  const Invocation = module.LocalSessionInvocation ?? module.LocalSubagentInvocation;
  const outputs = [];
  const controller = new AbortController();
  let given;
  LocalAgentExecutor.create = async (definition, context, onActivity) => {
    if (job.broken) throw new Error(job.broken);
    return {
      agentId: 'AGENT',
      run: async (inputs, signal) => {
        given = inputs;
        for (const { type, data } of job.activities) {
          onActivity({ isSubagentActivityEvent: true, agentName: 'helper', type, data });
        }
        if (job.abort) {
          controller.abort();
          if (!signal.aborted) throw new Error('the abort did not arrive');
        }
        if (job.error) {
          const error = new Error(job.error.message);
          if (job.error.name) error.name = job.error.name;
          throw error;
        }
        return job.output;
      },
    };
  };
  const published = [];
  const bus = { publish: (m) => void published.push(text([m.subagentName, m.activity])) };
  const call = new Invocation({ name: 'helper', ...job.definition }, {}, job.params, bus);
  const report = { outputs, published, description: call.getDescription() };
  const updateOutput = job.silent ? undefined : (shown) => void outputs.push(text(shown));
  try {
    const result = await call.execute({ abortSignal: controller.signal, updateOutput });
    report.result = [text(result.llmContent), text(result.returnDisplay), text(result.data)];
    report.error = result.error ?? null;
  } catch (error) {
    report.raised = [error.name, error.message];
  }
  return { ...report, given };
}

async function completeTask(job) {
  const { CompleteTaskTool } = await load('tools/complete-task.js');
  const { zodToJsonSchema } = require('zod-to-json-schema');
  const { z } = require('zod');
  const schema = job.zod && new Function('z', `return ${job.zod}`)(z);
  const output = schema && { outputName: 'report', description: 'd', schema };
  const tool = new CompleteTaskTool({ publish() {} }, output);
  const runs = [];
  for (const params of job.params) {
    try {
      const call = tool.build(params);
      const result = await call.execute({ abortSignal: new AbortController().signal });
      runs.push([call.getDescription(), result.llmContent, result.returnDisplay, result.data]);
    } catch (error) {
      runs.push(error.message);
    }
  }
  const { name, displayName, description, kind } = tool;
  return {
    about: [name, displayName, description, kind],
    declared: tool.schema,
    schema: schema ? zodToJsonSchema(schema) : null,
    runs,
  };
}

async function sanitise(job) {
  const module = await load('utils/agent-sanitization-utils.js');
  return job.texts
    .map((value) => text(module.sanitizeErrorMessage(value)))
    .concat(job.values.map((value) => text(module.sanitizeToolArgs(value))));
}

async function injected(job) {
  const module = await load('utils/fastAckHelper.js');
  return [
    module.formatUserHintsForModel(job.hints),
    module.buildUserSteeringHintPrompt(job.hints.join('\n')),
    module.formatBackgroundCompletionForModel(job.output),
  ];
}

async function completion(job) {
  const { ShellExecutionService } = await load('services/shellExecutionService.js');
  const { sanitizeOutput } = await load('utils/textUtils.js');
  return job.outputs.map((output) => {
    const note = ShellExecutionService.formatShellBackgroundCompletion(7, job.behaviour, output);
    return sanitizeOutput(note).replaceAll(/\S*background-7.log/g, 'LOG');
  });
}

const kinds = { completion, invocation, completeTask, sanitise, injected };
let input = '';
for await (const chunk of process.stdin) input += chunk;
const answers = [];
for (const job of JSON.parse(input)) answers.push(await kinds[job.kind](job));
// The core keeps handles open, and what it logs must not mix with the answer.
process.stderr.write(`\0${JSON.stringify(answers)}`, () => process.exit(0));
