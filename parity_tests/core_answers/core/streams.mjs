// The core's half of the subjects of streams.py.
import { createRequire } from 'node:module';
import path from 'node:path';

let core;
function sdk() {
  const require = createRequire(path.join(process.argv[2], 'package.json'));
  core ??= import(require.resolve('@google/genai'));
  return core;
}

async function* chunksOf(chunks) {
  const { GenerateContentResponse } = await sdk();
  for (const chunk of chunks) yield Object.assign(new GenerateContentResponse(), structuredClone(chunk));
}

export async function assembled({ chunks, afterFunctionResponse }, load) {
  const { GeminiChat } = await load('core/geminiChat.js');
  const kept = { thoughts: [], usage: null, message: null, pushed: null };
  const chat = Object.assign(Object.create(GeminiChat.prototype), {
    context: { config: { isContextManagementEnabled: () => false, getHookSystem: () => undefined } },
    chatRecordingService: {
      recordThought: (thought) => kept.thoughts.push(thought),
      recordMessageTokens: (usage) => { kept.usage = usage; },
      recordMessage: ({ content }) => { kept.message = content; return '1'; },
      recordSyntheticMessage: () => '1',
    },
    agentHistory: { push: ({ content }) => { kept.pushed = content; } },
  });
  const yielded = [];
  try {
    const stream = chat.processStreamResponse('m', chunksOf(chunks), undefined, afterFunctionResponse);
    for await (const chunk of stream) yielded.push(structuredClone(chunk.functionCalls ?? []));
  } catch (error) {
    return { calls: yielded, error: error.type ?? error.name, message: error.message };
  }
  const { thoughts, usage, message, pushed } = kept;
  return { calls: yielded, parts: pushed.parts, thoughts, usage, message };
}

export async function turn({ chunks, now }, load) {
  const { Turn } = await load('core/turn.js');
  const config = {
    getLogRagSnippets: () => false,
    isContextManagementEnabled: () => false,
  };
  const made = new Turn({
    context: { config },
    loopContext: { toolRegistry: { getTool: () => undefined } },
    sendMessageStream: async () => (async function* () {
      for await (const value of chunksOf(chunks)) yield { type: 'chunk', value };
    })(),
    getHistory: () => [],
    maybeIncludeSchemaDepthContext: async () => {},
  }, 'p');
  const real = Date.now;
  Date.now = () => now;
  const events = [];
  try {
    for await (const { type, value } of made.run({ model: 'm' }, [], new AbortController().signal)) {
      if (type === 'tool_call_request') events.push([type, value.callId, value.name, value.args]);
      else events.push([type, value]);
    }
  } finally {
    Date.now = real;
  }
  return { events, text: made.getResponseText(), reason: made.finishReason ?? null };
}
