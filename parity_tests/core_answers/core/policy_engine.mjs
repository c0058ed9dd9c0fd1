// The core's half of the subjects of policy_engine.py.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const ruleOf = ([toolName, priority, source]) => (
  { toolName, priority, source: source ?? undefined, decision: 'allow' }
);

export async function refused({ checker, ...rule }, load) {
  const { PolicyEngine } = await load('policy/policy-engine.js');
  try {
    new PolicyEngine(checker ? { checkers: [rule] } : { rules: [rule] });
  } catch (error) {
    return error.message;
  }
  return null;
}

export async function book({ rules, checkers, steps }, load) {
  const { PolicyEngine } = await load('policy/policy-engine.js');
  const engine = new PolicyEngine({ rules: rules.map(ruleOf), checkers: checkers.map(ruleOf) });
  const held = () => [engine.getRules(), engine.getCheckers()].map((all) =>
    all.map(({ toolName, source }) => [toolName, source ?? null]));
  const shown = [held()];
  for (const [what, ...given] of steps) {
    if (what === 'has') {
      shown.push(engine.hasRuleForTool(...given));
      continue;
    }
    if (what === 'rule') engine.addRule(ruleOf(given));
    else if (what === 'checker') engine.addChecker(ruleOf(given));
    else {
      engine.removeRulesBySource(given[0]);
      engine.removeCheckersBySource(given[0]);
    }
    shown.push(held());
  }
  return shown;
}

async function inFolder(play) {
  const before = process.cwd();
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'answers-')));
  process.chdir(folder);
  try {
    return await play(folder);
  } finally {
    process.chdir(before);
    rmSync(folder, { recursive: true });
  }
}

const session = (folder, history, question) => ({
  config: {
    getQuestion: () => question ?? '',
    getWorkspaceContext: () => ({ getDirectories: () => [folder] }),
  },
  geminiClient: { getHistory: () => history },
});

export async function context({ history, question, wanted }, load) {
  const { ContextBuilder } = await load('safety/context-builder.js');
  return inFolder((folder) => {
    const builder = new ContextBuilder(session(folder, history, question));
    const made = wanted === null ? builder.buildFullContext() : builder.buildMinimalContext(wanted);
    return JSON.parse(JSON.stringify(made).replaceAll(folder, 'FOLDER'));
  });
}

const kind = (reason) =>
  !/^Failed to run/.test(reason) || /nknown|broken/.test(reason) ? reason : reason.split(':')[0];

export async function judged(asked, load) {
  const { ContextBuilder } = await load('safety/context-builder.js');
  const { CheckerRegistry } = await load('safety/registry.js');
  const { CheckerRunner } = await load('safety/checker-runner.js');
  CheckerRegistry.getBuiltInInProcessCheckers().set('conseca', {
    check: async () => { throw new Error('broken'); },
  });
  return inFolder(async (folder) => {
    const builder = new ContextBuilder(session(folder, [], ''));
    const runner = new CheckerRunner(builder, new CheckerRegistry('/none'), {});
    const found = [];
    for (const [args, checker] of asked) {
      const { decision, reason } = await runner.runChecker({ name: 'tool', args }, checker);
      found.push([decision, reason === undefined ? null : kind(reason)]);
    }
    return found;
  });
}
