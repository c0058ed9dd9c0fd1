// The core's half of the subjects of recorded.py.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync,
  writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { mock } from 'node:test';
import os from 'node:os';
import path from 'node:path';

const BEGIN_MS = 1_700_000_000_000;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;

function completed({ id, name, original, original_args, args, parts, data, display, status, says }) {
  return {
    request: { callId: id, name, originalRequestName: original, originalRequestArgs: original_args, args },
    response: { responseParts: parts, data, resultDisplay: display },
    status,
    ...(says === undefined ? {} : { invocation: { getDescription: () => says } }),
  };
}

function lines(text) {
  try {
    return text.split('\n').filter(Boolean).map((line) => JSON.parse(line));
  } catch {
    return [text];
  }
}

function about(message) {
  const kept = JSON.parse(JSON.stringify(message));
  return [kept.id, kept.type, kept.toolCalls?.length ?? 0, ...Object.keys(kept).sort()];
}

// Keys in order, so that ids are counted in the order in which our half has them.
function ordered(value) {
  if (Array.isArray(value)) return value.map(ordered);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, ordered(value[key])]));
}

export async function play(asked, load) {
  const { ChatRecordingService } = await load('services/chatRecordingService.js');
  const { GeminiChat } = await load('core/geminiChat.js');
  const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'recorded-')));
  const folder = path.join(root, 'w');
  const home = path.join(root, 'home');
  mkdirSync(folder);
  mock.timers.enable({ apis: ['Date'], now: BEGIN_MS });
  const tool = (known) => known && { displayName: known.display_name,
    description: known.description, isOutputMarkdown: known.is_output_markdown };
  const context = {
    promptId: asked.id ?? 'main-session',
    toolRegistry: { getTool: (name) => tool(asked.tools[name]) },
    config: {
      getProjectRoot: () => folder,
      storage: { getProjectTempDir: () => path.join(home, '.gemini', 'tmp', 'w') },
      getWorkspaceContext: () => ({ getDirectories: () => [folder] }),
    },
  };
  const service = new ChatRecordingService(context);
  const steps = {
    pass: (ms) => mock.timers.tick(ms),
    async init(kind, parent) {
      context.parentSessionId = parent ?? undefined;
      await service.initialize(undefined, kind);
    },
    async resume(name, text, conversation) {
      const filePath = path.join(home, name);
      if (text !== null) {
        mkdirSync(home, { recursive: true });
        writeFileSync(filePath, text);
      }
      await service.initialize({ filePath, conversation });
    },
    message: (type, content, display, model, id) =>
      service.recordMessage({ type, content, displayContent: display ?? undefined,
        model: model ?? undefined, id: id ?? undefined }),
    synthetic: (type, parts) => service.recordSyntheticMessage(type, parts),
    content: ({ role, parts }) =>
      service.recordSyntheticMessage(role === 'user' ? 'user' : 'gemini', parts ?? []),
    thought: (subject, description) => service.recordThought({ subject, description }),
    tokens: (usage) => service.recordMessageTokens(usage),
    calls: (model, calls) => GeminiChat.prototype.recordCompletedToolCalls.call(
      { chatRecordingService: service }, model, calls.map(completed)),
    update: (turns) => service.updateMessagesFromHistory(turns.map(([id, content]) => ({ id, content }))),
    summary: (text) => service.saveSummary(text),
    folders: (listed) => service.recordDirectories(listed),
    rewind: (id) => service.rewindTo(id)?.messages.length,
  };
  try {
    const answers = [];
    for (const [step, ...given] of asked.steps) answers.push((await steps[step](...given)) ?? null);
    let found = [];
    try {
      found = readdirSync(home, { recursive: true });
    } catch {
      // Nothing was written.
    }
    const written = found.map((each) => path.join(home, each)).filter((each) => statSync(each).isFile())
      .sort().map((each) => [path.relative(root, each), lines(readFileSync(each, 'utf8'))]);
    const file = service.getConversationFilePath();
    const messages = service.getConversation()?.messages.map(about) ?? null;
    let text = JSON.stringify(ordered(JSON.parse(JSON.stringify([answers, [written, file, messages]]))));
    [...new Set(text.match(UUID))].forEach((each, number) => {
      text = text.replaceAll(each, `id ${number}`);
    });
    const hash = createHash('sha256').update(folder).digest('hex');
    return JSON.parse(text.replaceAll(hash, 'hash').replaceAll(root, '@'));
  } finally {
    mock.timers.reset();
    rmSync(root, { recursive: true });
  }
}

export const resumed = play;
