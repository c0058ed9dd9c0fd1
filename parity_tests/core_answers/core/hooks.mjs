// The core's half of the subjects of hooks.py.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const FIELDS = [
  'continue',
  'stopReason',
  'suppressOutput',
  'systemMessage',
  'decision',
  'reason',
  'hookSpecificOutput',
];

/** The answer of `ask`, or that the core raises. */
async function orFailed(ask) {
  try {
    return await ask();
  } catch {
    return { failed: true };
  }
}

function reads(output) {
  const blocking = output.getBlockingError();
  return {
    stops: output.shouldStopExecution(),
    blocks: blocking.blocked,
    asks: output.isAskDecision(),
    reason: output.getEffectiveReason(),
    context: output.getAdditionalContext() ?? null,
    clears: output.shouldClearContext(),
    input: output.getModifiedToolInput?.() ?? null,
    tail: output.getTailToolCallRequest() ?? null,
  };
}

export async function merged({ event, outputs }, load) {
  const { HookAggregator } = await load('hooks/hookAggregator.js');
  const results = outputs.map((output) => ({ output, duration: 1 }));
  return orFailed(() => {
    const { finalOutput } = new HookAggregator().aggregateResults(results, event);
    if (finalOutput === undefined) return null;
    const fields = Object.fromEntries(
      FIELDS.filter((key) => finalOutput[key] !== undefined).map((key) => [key, finalOutput[key]]),
    );
    if (Object.keys(fields.hookSpecificOutput ?? { some: 1 }).length === 0)
      delete fields.hookSpecificOutput;
    return JSON.parse(JSON.stringify({ fields, reads: reads(finalOutput) }));
  });
}

export async function read({ event, output }, load) {
  const { createHookOutput } = await load('hooks/types.js');
  return orFailed(() => reads(createHookOutput(event, output)));
}

export async function plan({ definitions, disabled, tool, trigger }, load) {
  const { HookPlanner } = await load('hooks/hookPlanner.js');
  const entries = definitions.flatMap(({ matcher, sequential, hooks }) =>
    hooks
      .filter(([name, command]) => !disabled.includes(name || command))
      .map(([name, command]) => ({
        matcher,
        sequential,
        config: { type: 'command', name, command },
      })),
  );
  const planner = new HookPlanner({ getHooksForEvent: () => entries });
  const made = planner.createExecutionPlan('BeforeTool', { toolName: tool, trigger });
  return {
    hooks: (made?.hookConfigs ?? []).map(({ name, command }) => [name, command]),
    sequential: made?.sequential ?? false,
  };
}

export async function printed({ stdout, stderr, code }, load) {
  const { HookRunner } = await load('hooks/hookRunner.js');
  const runner = new HookRunner({
    isTrustedFolder: () => true,
    sanitizationConfig: {},
    storage: { getPlansDir: () => '/plans' },
  });
  const hook = {
    type: 'command',
    command: `cat >/dev/null; printf %s "$OUT"; printf %s "$ERR" >&2; ${code === null ? 'kill -9 $$' : `exit ${code}`}`,
    env: { OUT: stdout, ERR: stderr },
  };
  const result = await runner.executeHook(hook, 'BeforeTool', { cwd: '/', session_id: 's' });
  if (result.output === undefined) return null;
  return Array.isArray(result.output) ? {} : result.output;
}

export async function expanded({ command, cwd, plans, session }, load) {
  const { HookRunner } = await load('hooks/hookRunner.js');
  const runner = new HookRunner({ storage: { getPlansDir: () => plans } });
  return runner.expandCommand(command, { cwd, session_id: session }, 'bash');
}

export async function next_input({ event, given, output }, load) {
  const { HookRunner } = await load('hooks/hookRunner.js');
  return orFailed(() => new HookRunner({}).applyHookOutputToInput(given, output, event));
}

export async function request(asked, load) {
  const { defaultHookTranslator } = await load('hooks/hookTranslator.js');
  return JSON.parse(JSON.stringify(defaultHookTranslator.toHookLLMRequest(asked)));
}

export async function response(asked, load) {
  const { defaultHookTranslator } = await load('hooks/hookTranslator.js');
  return JSON.parse(JSON.stringify(defaultHookTranslator.toHookLLMResponse(asked)));
}

export async function changed({ said, request: target }, load) {
  const { BeforeModelHookOutput } = await load('hooks/types.js');
  return orFailed(() => {
    const output = new BeforeModelHookOutput({ hookSpecificOutput: { llm_request: said } });
    const { model, config, contents } = output.applyLLMRequestModifications(target);
    return JSON.parse(JSON.stringify({ model, config: { ...target.config, ...config }, contents }));
  });
}

export async function answered(said, load) {
  const { defaultHookTranslator } = await load('hooks/hookTranslator.js');
  return orFailed(() => {
    const { candidates, usageMetadata } = defaultHookTranslator.fromHookLLMResponse(said);
    const shown = candidates.map(({ content, finishReason }) => ({ content, finishReason }));
    return JSON.parse(JSON.stringify({ candidates: shown, usageMetadata }));
  });
}

export async function before_tool(output, load) {
  const { evaluateBeforeToolHook } = await load('scheduler/hook-utils.js');
  const { createHookOutput } = await load('hooks/types.js');
  const config = {
    getHookSystem: () => ({
      fireBeforeToolEvent: async () => output && createHookOutput('BeforeTool', output),
    }),
  };
  const tool = {
    build: (args) => {
      if (args.bad) throw new Error(`bad: ${args.bad}`);
      return { built: args };
    },
  };
  const made = await evaluateBeforeToolHook(config, tool, { name: 't' }, { params: { a: 1 } });
  if (made.status === 'error') return { error: made.error.message, type: made.errorType };
  return {
    asks: made.hookDecision === 'ask',
    message: made.hookSystemMessage ?? null,
    args: made.modifiedArgs ?? null,
    built: made.newInvocation?.built ?? null,
  };
}

export async function after_tool({ result, output }, load) {
  const { executeToolWithHooks } = await load('core/coreToolHookTriggers.js');
  const { createHookOutput } = await load('hooks/types.js');
  const config = {
    getHookSystem: () => ({
      fireAfterToolEvent: async () => output && createHookOutput('AfterTool', output),
    }),
  };
  const invocation = { params: {}, execute: async () => structuredClone(result) };
  const signal = new AbortController().signal;
  const rest = [signal, {}, undefined, {}, config, undefined, true];
  const { tailToolCallRequest, ...shown } = await executeToolWithHooks(invocation, 't', ...rest);
  return shown;
}
export const merged_fields = merged;

export async function trusted({ known, rounds }, load) {
  const { TrustedHooksManager } = await load('hooks/trustedHooks.js');
  const folder = mkdtempSync(path.join(tmpdir(), 'parity-hooks-'));
  const file = path.join(folder, 'trusted_hooks.json');
  if (known !== null) writeFileSync(file, known);
  const answers = [];
  for (const [project, definitions] of rounds) {
    const manager = new TrustedHooksManager();
    manager.trustedHooks = {};
    manager.configPath = file;
    manager.load();
    const hooks = {
      BeforeTool: definitions.map((each) => ({
        hooks: each.map(([name, command]) => ({ type: 'command', name, command })),
      })),
    };
    const found = manager.getUntrustedHooks(project, hooks);
    if (found.length > 0) manager.trustHooks(project, hooks);
    answers.push([found, existsSync(file) ? readFileSync(file, 'utf8') : null]);
  }
  rmSync(folder, { recursive: true });
  return answers;
}

export async function after_model({ chunk, output }, load) {
  const { HookSystem } = await load('hooks/hookSystem.js');
  const { createHookOutput } = await load('hooks/types.js');
  const system = Object.create(HookSystem.prototype);
  system.hookEventHandler = {
    fireAfterModelEvent: async () => ({
      finalOutput: output === null ? undefined : createHookOutput('AfterModel', output),
    }),
  };
  const { response, stopped, blocked, reason } = await system.fireAfterModelEvent({}, chunk);
  if (stopped) return { stopped: reason };
  if (blocked) return { blocked: reason, response };
  if (response === chunk) return { response };
  const candidates = response.candidates.map(({ content, finishReason }) => ({
    content,
    finishReason,
  }));
  const { usageMetadata } = response;
  return JSON.parse(JSON.stringify({ response: { candidates, usageMetadata } }));
}
