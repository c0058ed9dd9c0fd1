// The core's half of the subjects of policy.py.
import { mkdtempSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

function place(files) {
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'answers-')));
  const root = path.join(folder, 'ws');
  const policies = path.join(folder, 'home', '.gemini', 'policies');
  mkdirSync(path.join(root, 'sub'), { recursive: true });
  mkdirSync(policies, { recursive: true });
  symlinkSync('/etc', path.join(root, 'link'));
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(path.join(name === 'user.toml' ? policies : root, name), text);
  }
  return { folder, root };
}

async function engineOf(input, { folder, root }, load) {
  const { createPolicyEngineConfig, clearEmittedPolicyWarnings } = await load('policy/config.js');
  const { PolicyEngine } = await load('policy/policy-engine.js');
  const { CheckerRunner } = await load('safety/checker-runner.js');
  const { CheckerRegistry } = await load('safety/registry.js');
  const { ContextBuilder } = await load('safety/context-builder.js');
  const { initializeShellParsers } = await load('utils/shell-utils.js');
  const { coreEvents } = await load('utils/events.js');
  await initializeShellParsers();
  process.env.GEMINI_CLI_HOME = path.join(folder, 'home');
  process.chdir(root);
  clearEmittedPolicyWarnings();
  const feedback = [];
  const hear = ({ severity }) => feedback.push(severity);
  const given = input.settings;
  const absolute = (name) => path.join(root, name);
  coreEvents.on('user-feedback', hear);
  const config = await createPolicyEngineConfig(
    {
      ...given.policySettings,
      mcpServers: given.mcpServers,
      workspacePoliciesDir: given.workspacePoliciesDir && absolute(given.workspacePoliciesDir),
      adminPolicyPaths: given.adminPolicyPaths?.map(absolute),
      policyPaths: given.policyPaths?.map(absolute),
      disableAlwaysAllow: given.disableAlwaysAllow,
    },
    input.mode,
    undefined,
    input.interactive,
  );
  coreEvents.off('user-feedback', hear);
  const context = {
    config: {
      getQuestion: () => '',
      getWorkspaceContext: () => ({ getDirectories: () => [root] }),
    },
  };
  CheckerRegistry.getBuiltInInProcessCheckers().set('conseca', {
    check: async () => ({ decision: 'allow' }),
  });
  const checkers = new CheckerRunner(new ContextBuilder(context), new CheckerRegistry('/none'), {});
  config.isTrustedFolder = () => given.trustedFolder;
  return { engine: new PolicyEngine(config, checkers), feedback };
}

export async function decisions(input, load) {
  const there = place(input.files);
  const before = process.cwd();
  try {
    const { engine, feedback } = await engineOf(input, there, load);
    const found = [];
    for (const { name, args, server, annotations, subagent } of input.calls) {
      const { decision, rule } = await engine.check({ name, args }, server, annotations, subagent);
      found.push([
        decision, rule?.source ?? null, rule?.priority ?? null, rule?.denyMessage ?? null,
      ]);
    }
    const known = new Map(Object.entries(input.annotations ?? {}));
    const excluded = [...engine.getExcludedTools(known, new Set(input.names))].sort();
    return { found, excluded, feedback };
  } finally {
    process.chdir(before);
    rmSync(there.folder, { recursive: true });
  }
}

export const built_in = decisions;
