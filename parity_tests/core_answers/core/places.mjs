// The core's half of the subjects of places.py.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync,
  symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const required = createRequire(path.join(process.argv[2], 'dist', 'src', 'index.js'));

// Asks in a temporary folder with the files and links of the input; `@` stands for it.
async function inFolder(asked, ask) {
  const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'places-')));
  const before = process.cwd();
  try {
    for (const [name, target] of Object.entries(asked.tree)) {
      const place = path.join(root, name);
      mkdirSync(path.dirname(place), { recursive: true });
      if (target === null) mkdirSync(place, { recursive: true });
      else if (target === '') writeFileSync(place, '');
      else symlinkSync(target.replaceAll('@', root), place);
    }
    process.chdir(root);
    const given = JSON.parse(JSON.stringify(asked).replaceAll('@', root));
    const answer = JSON.stringify((await ask(given, root)) ?? null);
    return JSON.parse(answer.replaceAll(root, '@'));
  } finally {
    process.chdir(before);
    rmSync(root, { recursive: true });
  }
}

export async function real(asked, load) {
  const { resolveToRealPath } = await load('utils/paths.js');
  const { isBuildFile } = await load('utils/buildFileUtils.js');
  return inFolder(asked, ({ path: text }) => {
    let found;
    try {
      found = ['real', resolveToRealPath(text)];
    } catch (error) {
      found = ['refused', error.message];
    }
    return [...found, isBuildFile(text)];
  });
}

export const extension = (text) => path.extname(text);

export async function target(args, load) {
  const { extractFilePathFromArgs, isBuildFile } = await load('utils/buildFileUtils.js');
  const found = extractFilePathFromArgs(args);
  return [found ?? null, found !== undefined && isBuildFile(found)];
}

// An edit of a build file is what the policy asks about, although it allows everything.
export async function edit_like(name, load) {
  const { PolicyEngine } = await load('policy/policy-engine.js');
  const engine = new PolicyEngine({ defaultDecision: 'allow' });
  const { decision } = await engine.check({ name, args: { path: '/none/Makefile' } }, undefined);
  return decision === 'ask_user' || decision === 'ask';
}

export async function trust(asked, load) {
  const { TrustLevel, checkPathTrust, loadTrustedFolders, resetTrustedFoldersForTesting } =
    await load('utils/trust.js');
  return inFolder(asked, async (given, root) => {
    const home = path.join(root, 'home');
    const file = path.join(home, '.gemini', 'trustedFolders.json');
    const variables = { ...given.variables, GEMINI_CLI_HOME: home };
    Object.assign(process.env, variables);
    resetTrustedFoldersForTesting();
    try {
      if (given.rules !== null) {
        mkdirSync(path.dirname(file), { recursive: true });
        writeFileSync(file, given.rules);
      }
      const settled = given.folders.map(
        (each) => checkPathTrust({ path: each, isFolderTrustEnabled: given.enabled }).isTrusted ?? null);
      const folders = loadTrustedFolders();
      if (folders.errors.length) return { refused: true };
      for (const [folder, level] of given.remember) await folders.setValue(folder, TrustLevel[level]);
      const kept = given.remember.length ? readFileSync(file, 'utf8') : null;
      const later = given.folders.map((each) => folders.isPathTrusted(each) ?? null);
      const mode = kept === null ? null : `0o${(statSync(file).mode & 0o777).toString(8)}`;
      const left = kept === null ? null : readdirSync(path.dirname(file)).sort();
      return [settled, kept, later, mode, left];
    } catch (error) {
      return { refused: error.constructor.name === 'FatalConfigError' };
    } finally {
      for (const name of Object.keys(variables)) delete process.env[name];
    }
  });
}

export async function comments(text) {
  const main = required.resolve('strip-json-comments');
  const { default: strip } = await import(pathToFileURL(main).href);
  return strip(text);
}

export async function words([ms, mode, manual], load) {
  const { getPlanModeExitMessage } = await load('utils/approvalModeUtils.js');
  const date = new Date(ms);
  const long = { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' };
  return [
    date.toLocaleDateString('en-US', { ...long, timeZone: 'UTC' }),
    date.toISOString(),
    getPlanModeExitMessage(mode, manual),
    getPlanModeExitMessage(mode),
  ];
}

export async function browser(variables, load) {
  const { shouldLaunchBrowser } = await load('utils/secure-browser-launcher.js');
  const names = ['BROWSER', 'CI', 'DEBIAN_FRONTEND', 'SSH_CONNECTION', 'DISPLAY', 'WAYLAND_DISPLAY',
    'MIR_SOCKET'];
  const before = names.map((name) => [name, process.env[name]]);
  for (const name of names) delete process.env[name];
  Object.assign(process.env, variables);
  try {
    return shouldLaunchBrowser();
  } finally {
    for (const [name, value] of before) {
      delete process.env[name];
      if (value !== undefined) process.env[name] = value;
    }
  }
}

export async function stable_id(sources, load) {
  const { deriveStableId } = await load('utils/cryptoUtils.js');
  return deriveStableId(sources);
}

export async function saved([content, tool, id, session], load) {
  const { saveTruncatedToolOutput } = await load('utils/fileUtils.js');
  const folder = mkdtempSync(path.join(os.tmpdir(), 'places-'));
  try {
    const { outputFile } = await saveTruncatedToolOutput(content, tool, id, folder, session ?? undefined);
    return [path.relative(folder, outputFile), [...readFileSync(outputFile)]];
  } finally {
    rmSync(folder, { recursive: true });
  }
}
