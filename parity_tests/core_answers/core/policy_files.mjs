// The core's half of the subjects of policy_files.py.
import {
  existsSync, mkdtempSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

const TOML = '../../../../@iarna/toml/toml.js';

async function inFolder(use) {
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'answers-')));
  try {
    return await use(folder, (text) => text.replaceAll(folder, ''));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function put(folder, files) {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    if (text === null) mkdirSync(file);
    else if (text.startsWith('->')) symlinkSync(text.slice(2), file);
    else writeFileSync(file, text);
  }
}

const searched = (pattern, probes) =>
  pattern ? probes.map((probe) => (new RegExp(pattern).test(probe) ? '1' : '0')).join('') : null;

// The shell policy of ours trusts redirections in this mode without the rule's word.
const redirects = ({ source, allowRedirection }) =>
  source !== 'Default: yolo.toml' && (allowRedirection ?? false);

const row = (rule, probes) => [
  rule.toolName, rule.decision, rule.priority, searched(rule.argsPattern, probes),
  rule.modes ?? [], rule.subagent ?? null, rule.mcpName ?? null, rule.toolAnnotations ?? null,
  rule.interactive ?? null, redirects(rule), rule.denyMessage ?? null, rule.source ?? null,
];

const checkerRow = (rule, probes) => [
  rule.toolName, rule.checker.name, rule.checker.type === 'external',
  rule.checker.required_context ?? null, rule.checker.config ?? null, rule.priority,
  searched(rule.argsPattern, probes), rule.modes ?? [], rule.mcpName ?? null,
  rule.toolAnnotations ?? null, rule.source ?? null,
];

const named = ({ toolName }) => toolName !== '';

// What a parser of TOML says about syntax is its own; what it says of mixed lists is not.
function plain(error) {
  if (error.errorType !== 'toml_parse') return error;
  const mixed = /^Inline lists must .*?(?= at row|$)/.exec(error.details);
  return { ...error, details: mixed === null ? undefined : mixed[0] };
}

export async function loaded(input, load) {
  const { loadPoliciesFromToml } = await load('policy/toml-loader.js');
  const { formatPolicyError } = await load('policy/config.js');
  return inFolder(async (folder, shown) => {
    put(folder, input.files);
    const paths = input.paths.map(([name]) => path.join(folder, name));
    const tiers = new Map(paths.map((file, index) => [file, input.paths[index][1]]));
    const { rules, checkers, errors } = await loadPoliciesFromToml(paths, (file) => tiers.get(file));
    return [
      rules.filter(named).map((rule) => row(rule, input.probes)),
      checkers.filter(named).map((rule) => checkerRow(rule, input.probes)),
      errors.map((error) => [error.severity ?? 'error', shown(formatPolicyError(plain(error)))]),
    ];
  });
}

export async function rules(input, load) {
  const { createPolicyEngineConfig } = await load('policy/config.js');
  return inFolder(async (folder) => {
    process.env.GEMINI_CLI_HOME = folder;
    const given = input.settings;
    const made = await createPolicyEngineConfig(
      { ...given.policySettings, mcpServers: given.mcpServers },
      'default', undefined, input.interactive,
    );
    return [
      made.rules
        .sort((one, other) => other.priority - one.priority)
        .filter(({ source }) => source.startsWith(input.from))
        .map((rule) => row(rule, input.probes)),
      made.checkers
        .sort((one, other) => other.priority - one.priority)
        .filter(({ source }) => source.startsWith(input.from))
        .map((rule) => checkerRow(rule, input.probes)),
    ];
  });
}

// Resolves when the answer is saved, or could not be.
function savedOrFailed(coreEvents) {
  const rename = fs.rename;
  let end;
  const ended = new Promise((resolve) => { end = resolve; });
  const hear = ({ severity }) => { if (severity === 'error') end(); };
  fs.rename = async (...names) => { await rename(...names); end(); };
  syncBuiltinESMExports();
  coreEvents.on('user-feedback', hear);
  return { ended, stop: () => { fs.rename = rename; syncBuiltinESMExports(); coreEvents.off('user-feedback', hear); } };
}

export async function updated(input, load) {
  const { createPolicyUpdater } = await load('policy/config.js');
  const { coreEvents } = await load('utils/events.js');
  return inFolder(async (folder, shown) => {
    put(folder, input.files);
    const said = [];
    const hear = ({ severity, message }) => said.push([severity, shown(message)]);
    coreEvents.on('user-feedback', hear);
    const added = [];
    let update;
    let saving = false;
    const at = (where) => { saving = true; return path.join(folder, where, 'auto-saved.toml'); };
    createPolicyUpdater(
      { addRule: (rule) => added.push(row(rule, input.probes)) },
      { subscribe: (_, play) => { update = play; } },
      {
        getWorkspaceAutoSavedPolicyPath: () => at('ws/.gemini/policies'),
        getAutoSavedPolicyPath: () => at('home/.gemini/policies'),
      },
    );
    const texts = [];
    for (const message of input.updates) {
      saving = false;
      const { ended, stop } = savedOrFailed(coreEvents);
      await update({ ...message, persist: message.persistScope !== undefined });
      await new Promise((resolve) => { setImmediate(resolve); });
      if (saving) await ended;
      await new Promise((resolve) => { setImmediate(resolve); });
      stop();
      texts.push(['ws', 'home'].map((where) => {
        const file = path.join(folder, where, '.gemini/policies/auto-saved.toml');
        return [file, `${file}.bak`].map((one) => {
          return existsSync(one) ? readFileSync(one, 'utf8') : null;
        });
      }));
    }
    coreEvents.off('user-feedback', hear);
    return [added, texts, said];
  });
}

export async function written(input, load) {
  const { default: toml } = await load(TOML);
  let document;
  try {
    document = toml.parse(input);
  } catch (error) {
    return [/^Inline lists must .*?(?= at row|$)/.exec(error.message)?.[0] ?? 'syntax', null];
  }
  return [null, toml.stringify(document)];
}

export async function server_warnings({ server, discovered, rules: given }, load) {
  const { validateMcpPolicyToolNames } = await load('policy/toml-loader.js');
  return validateMcpPolicyToolNames(
    server, discovered, given.map(([toolName, source]) => ({ toolName, source: source ?? undefined })),
  );
}

export async function book(input, load) {
  const { PolicyEngine } = await load('policy/policy-engine.js');
  const made = (given) => ({ decision: 'allow', checker: { type: 'external', name: 'c' }, ...given });
  let engine;
  try {
    engine = new PolicyEngine({
      rules: input.rules.map(made), checkers: input.checkers.map(made),
    });
  } catch (error) {
    return error.message;
  }
  const shown = (all) => all.map(({ toolName, priority, source }) =>
    [toolName, priority ?? 0, source ?? null]);
  const states = [];
  for (const { rules: added, checkers, without } of [{ rules: [], checkers: [] }, ...input.steps]) {
    if (without !== undefined) {
      engine.removeRulesBySource(without);
      engine.removeCheckersBySource(without);
    } else {
      added.map(made).forEach((rule) => engine.addRule(rule));
      checkers.map(made).forEach((rule) => engine.addChecker(rule));
    }
    states.push([
      shown(engine.getRules()), shown(engine.getCheckers()),
      input.names.map((name) => [engine.hasRuleForTool(name), engine.hasRuleForTool(name, true)]),
    ]);
  }
  return states;
}
