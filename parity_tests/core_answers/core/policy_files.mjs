// The core's half of the subjects of policy_files.py.
import {
  existsSync, mkdtempSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export const text = (given) =>
  typeof given === 'string' ? given : given.map(([part, times]) => part.repeat(times)).join('');

async function inFolder(play) {
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'answers-')));
  try {
    return await play(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function put(root, files) {
  for (const [name, given] of Object.entries(files)) {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    if (given === null) mkdirSync(file);
    else if (typeof given === 'object' && 'link' in given) symlinkSync(given.link, file);
    else writeFileSync(file, text(given));
  }
}

const found = (pattern, tried) =>
  pattern ? tried.map((each) => (new RegExp(pattern.source)).test(each)) : null;

function conditions(rule, tried) {
  return [
    rule.toolName, rule.priority, found(rule.argsPattern, tried), rule.modes ?? [],
    rule.mcpName ?? null, rule.toolAnnotations ?? null, rule.source ?? null,
  ];
}

const shown = (rule, tried) => [
  ...conditions(rule, tried), rule.decision, rule.subagent ?? null, rule.interactive ?? null,
  rule.allowRedirection ?? false, rule.denyMessage ?? null,
];

const shownChecker = (rule, tried) => [
  ...conditions(rule, tried), rule.checker.type, rule.checker.name,
  rule.checker.required_context ?? null, rule.checker.config ?? null,
];

const named = (rule) => rule.toolName !== '' && rule.mcpName !== '' && rule.subagent !== '';

function problem(error, formatted) {
  if (error.errorType !== 'toml_parse') return formatted(error);
  const mixed = /^(Inline lists.*?)( at row .*)?$/m.exec(error.details);
  return formatted({ ...error, details: mixed ? mixed[1] : undefined });
}

export function loaded({ files, paths, tier, tried }, load) {
  return inFolder(async (folder) => {
    const { loadPoliciesFromToml } = await load('policy/toml-loader.js');
    const { formatPolicyError } = await load('policy/config.js');
    put(folder, files);
    const places = paths.map((name) => path.join(folder, name));
    const all = await loadPoliciesFromToml(places, () => tier);
    return {
      rules: all.rules.filter(named).map((rule) => shown(rule, tried)),
      checkers: all.checkers.filter(named).map((rule) => shownChecker(rule, tried)),
      errors: all.errors.map((each) =>
        problem(each, formatPolicyError).replaceAll(folder, 'FOLDER')),
    };
  });
}

export function settings({ files, given, interactive, tried }, load) {
  return inFolder(async (folder) => {
    const { createPolicyEngineConfig, clearEmittedPolicyWarnings } =
      await load('policy/config.js');
    const { coreEvents } = await load('utils/events.js');
    const root = path.join(folder, 'ws');
    mkdirSync(root);
    put(folder, files);
    process.env.GEMINI_CLI_HOME = path.join(folder, 'home');
    clearEmittedPolicyWarnings();
    const feedback = [];
    const hear = ({ severity, message }) => feedback.push([severity, message.split('\n')[0]]);
    coreEvents.on('user-feedback', hear);
    const absolute = (name) => path.join(root, name);
    const config = await createPolicyEngineConfig(
      {
        ...given.policySettings,
        mcpServers: given.mcpServers,
        workspacePoliciesDir: given.workspacePoliciesDir && absolute(given.workspacePoliciesDir),
        adminPolicyPaths: given.adminPolicyPaths?.map(absolute),
        policyPaths: given.policyPaths?.map(absolute),
      },
      'default',
      undefined,
      interactive,
    );
    coreEvents.off('user-feedback', hear);
    const ours = (rule) => !rule.source.startsWith('Default: ');
    return {
      rules: config.rules.filter(ours).map((rule) => shown(rule, tried)),
      checkers: config.checkers.filter(ours).map((rule) => shownChecker(rule, tried)),
      feedback,
    };
  });
}

const LAST = 'no tool';

// Answers are saved one after the other: the scope of this one is read again once the others are.
const settled = (update) => new Promise((resolve) => {
  let reads = 0;
  update({
    toolName: LAST,
    persist: true,
    get persistScope() {
      reads += 1;
      if (reads === 1) return 'user';
      resolve();
      throw new Error('never saved');
    },
  });
});

export function saved({ files, answers, tried }, load) {
  return inFolder(async (folder) => {
    const { createPolicyUpdater } = await load('policy/config.js');
    const { coreEvents } = await load('utils/events.js');
    put(folder, files);
    const added = [];
    const feedback = [];
    const hear = ({ severity, message }) => {
      if (!message.includes(LAST)) {
        feedback.push([severity, message.replaceAll(folder, 'FOLDER')]);
      }
    };
    const saves = (at) => path.join(folder, at, '.gemini', 'policies', 'auto-saved.toml');
    let update;
    createPolicyUpdater(
      { addRule: (rule) => rule.toolName === LAST || added.push(shown(rule, tried)) },
      { subscribe: (_type, handler) => { update = handler; } },
      {
        getWorkspaceAutoSavedPolicyPath: () => saves('ws'),
        getAutoSavedPolicyPath: () => saves('home'),
      },
    );
    coreEvents.on('user-feedback', hear);
    for (const answer of answers) {
      await update({ ...answer, persist: answer.persistScope !== undefined });
      await settled(update);
    }
    coreEvents.off('user-feedback', hear);
    const texts = {};
    for (const at of ['ws', 'home']) {
      for (const file of [saves(at), `${saves(at)}.bak`]) {
        try {
          if (existsSync(file)) texts[path.relative(folder, file)] = readFileSync(file, 'utf8');
        } catch {
          texts[path.relative(folder, file)] = null;
        }
      }
    }
    return { added, feedback, texts };
  });
}

export async function canonical({ value, links }, load) {
  const { stableStringify } = await load('policy/stable-stringify.js');
  const at = (steps) => steps.reduce((one, step) => one[step], value);
  for (const [to, from] of links ?? []) at(to.slice(0, -1))[to.at(-1)] = at(from);
  return stableStringify(value);
}

export async function pattern({ given, tried }, load) {
  const { isSafeRegExp } = await load('policy/utils.js');
  const written = text(given);
  try {
    return {
      found: found(new RegExp(written), tried), safe: isSafeRegExp(written), problem: null,
    };
  } catch (error) {
    return { found: null, safe: isSafeRegExp(written), problem: error.message };
  }
}

export async function prefixes({ given, tried }, load) {
  const { buildArgsPatterns } = await load('policy/utils.js');
  return buildArgsPatterns(undefined, given)
    .map((each) => [each, tried.map((one) => new RegExp(each).test(one))]);
}

export async function names(asked, load) {
  const { isValidToolName, getToolAliases } = await load('tools/tool-names.js');
  return asked.map((name) => [isValidToolName(name, { allowWildcards: true }),
    getToolAliases(name)]);
}

export async function unknown_tools({ server, tools, rules }, load) {
  const { validateMcpPolicyToolNames } = await load('policy/toml-loader.js');
  return validateMcpPolicyToolNames(server, tools, rules.map(([toolName, source]) => (
    { toolName, source: source ?? undefined }
  )));
}

export function commands({ files, cwd, asked }, load) {
  return inFolder(async (folder) => {
    const { isKnownSafeCommand, isDangerousCommand } =
      await load('sandbox/utils/commandSafety.js');
    const { initializeShellParsers } = await load('utils/shell-utils.js');
    await initializeShellParsers();
    const root = path.join(folder, 'ws');
    mkdirSync(root);
    put(folder, files);
    const before = process.env.HOME;
    process.env.HOME = path.join(folder, 'home');
    const there = (word) => word.replaceAll('FOLDER', folder);
    const answers = asked.map((words) => {
      const given = words.map(there);
      return [isKnownSafeCommand(given, there(cwd), root), isDangerousCommand(given)];
    });
    process.env.HOME = before;
    return answers;
  });
}

export function allowed_paths({ files, workspaces, asked }, load) {
  return inFolder(async (folder) => {
    const { AllowedPathChecker } = await load('safety/built-in.js');
    mkdirSync(path.join(folder, 'ws'));
    put(folder, files);
    const there = (value) => JSON.parse(JSON.stringify(value).replaceAll('FOLDER', folder));
    const environment = { cwd: path.join(folder, 'ws'), workspaces: there(workspaces) };
    const checker = new AllowedPathChecker();
    const answers = [];
    for (const [args, config] of asked) {
      const { decision, reason } = await checker.check({
        toolCall: { name: 'tool', args: there(args) },
        context: { environment },
        config: config ?? undefined,
      });
      answers.push([decision, reason?.replaceAll(folder, 'FOLDER') ?? null]);
    }
    return answers;
  });
}
