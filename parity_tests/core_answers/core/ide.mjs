// The core's half of the subjects of ide.py.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export async function detected({ variables, command }, load) {
  const { detectIde } = await load('ide/detect-ide.js');
  const own = process.env;
  process.env = variables;
  try {
    return detectIde({ pid: 1, command }) ?? null;
  } finally {
    process.env = own;
  }
}

/** A long note as its length and its end. */
function brief(note) {
  return note.length > 2000 ? [note.length, note.slice(-60)] : note;
}

export async function notes(steps, load) {
  const { IdeContextStore, ideContextStore } = await load('ide/ideContext.js');
  const { IdeContextSchema } = await load('ide/types.js');
  const { GeminiClient } = await load('core/client.js');
  const client = { config: { getDebugMode: () => false } };
  let anew = true;
  const store = new IdeContextStore();
  const answers = [];
  for (const [method, given] of steps) {
    if (method === 'set') {
      const parsed = IdeContextSchema.safeParse(given);
      answers.push(parsed.success);
      if (parsed.success) store.set(parsed.data);
    } else if (method === 'clear') store.clear();
    else if (method === 'restart') anew = true;
    else {
      ideContextStore.get = () => store.get();
      const ask = GeminiClient.prototype.getIdeContextParts;
      const { contextParts, newIdeContext } = ask.call(client, anew);
      client.lastSentIdeContext = newIdeContext;
      anew = false;
      answers.push(contextParts.length > 0 ? brief(contextParts.join('\n')) : null);
    }
  }
  return answers;
}

/** A temporary folder with folders of projects; `@` stands for it. */
async function inFolders(ask) {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'parity-ide-')));
  for (const each of ['a/sub', 'b', 'ab']) fs.mkdirSync(path.join(root, each), { recursive: true });
  fs.symlinkSync(path.join(root, 'a'), path.join(root, 'link'));
  try {
    const answer = await ask((text) => text.replaceAll('@', root), root);
    return JSON.parse(JSON.stringify(answer ?? null).replaceAll(root, '@'));
  } finally {
    fs.rmSync(root, { recursive: true });
  }
}

function address(found) {
  if (found === undefined) return null;
  return {
    port: found.port ? Number(found.port) : null,
    command: found.stdio?.command ?? null,
    args: found.stdio?.args ?? [],
    token: found.authToken ?? null,
    workspace: found.workspacePath ?? null,
    ide: found.ideInfo ?? null,
  };
}

export async function variables(given, load) {
  const { getPortFromEnv, getStdioConfigFromEnv } = await load('ide/ide-connection-utils.js');
  const own = process.env;
  process.env = given;
  try {
    return address({
      port: getPortFromEnv(),
      stdio: getStdioConfigFromEnv(),
      authToken: given.GEMINI_CLI_IDE_AUTH_TOKEN,
      workspacePath: given.GEMINI_CLI_IDE_WORKSPACE_PATH,
    });
  } finally {
    process.env = own;
  }
}

export async function workspace({ opened, here }, load) {
  const { validateWorkspacePath } = await load('ide/ide-connection-utils.js');
  return inFolders(
    (placed) => validateWorkspacePath(opened === null ? undefined : placed(opened), placed(here)).error,
  );
}

export { files as address };
async function files({ files, pid, port, here }, load) {
  const { getConnectionConfigFromFile } = await load('ide/ide-connection-utils.js');
  return inFolders(async (placed, root) => {
    const folder = path.join(root, 'gemini', 'ide');
    if (files !== null) fs.mkdirSync(folder, { recursive: true });
    for (const [name, text] of Object.entries(files ?? {}))
      fs.writeFileSync(path.join(folder, name), placed(text));
    const own = process.env.TMPDIR;
    const cwd = process.cwd();
    process.env.TMPDIR = root;
    if (port !== null) process.env.GEMINI_CLI_IDE_SERVER_PORT = String(port);
    process.chdir(placed(here));
    try {
      return address(await getConnectionConfigFromFile(pid));
    } finally {
      if (own === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = own;
      delete process.env.GEMINI_CLI_IDE_SERVER_PORT;
      process.chdir(cwd);
    }
  });
}
