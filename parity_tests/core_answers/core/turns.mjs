// The core's half of the subjects of turns.py.

const CHAT = 'core/geminiChat.js';
const asTurns = (contents) => contents.map((content, id) => ({ id, content }));
const asContents = (turns) => turns.map(({ content }) => content);

function chatOf(GeminiChat, contents, model) {
  const config = { isContextManagementEnabled: () => false, getModel: () => model };
  return Object.assign(Object.create(GeminiChat.prototype), {
    agentHistory: { get: () => asTurns(contents) },
    context: { config },
  });
}

export async function steps(contents, load) {
  const { GeminiChat, ...chat } = await load(CHAT);
  const own = chatOf(GeminiChat, contents, 'gemini-1.5-pro');
  return [
    own.getHistory(true),
    asContents(chat.stripThoughts(asTurns(contents))),
    asContents(chat.coalesceConsecutiveRoles(asTurns(contents))),
    own.ensureActiveLoopHasThoughtSignatures(contents),
    chat.stripToolCallIdPrefixes(contents),
  ];
}

export async function nudged([contents, nudge], load) {
  const { applyRetryNudge } = await load(CHAT);
  return applyRetryNudge(contents, nudge);
}

export async function nudges(_asked, load) {
  const chat = await load(CHAT);
  return [chat.THINKING_ONLY_NUDGE_MESSAGE, chat.NO_RESPONSE_TEXT_NUDGE_MESSAGE,
    chat.SYNTHETIC_THOUGHT_SIGNATURE];
}

export async function binaries(parts, load) {
  const { GeminiChat } = await load(CHAT);
  const injected = chatOf(GeminiChat, [], '').extractBinaryInjections(parts) ?? [];
  return [parts, injected];
}

export async function words(content, load) {
  const { partListUnionToString } = await load('core/geminiRequest.js');
  return partListUnionToString(content);
}

export async function view(script, load) {
  const { GeminiChat, coalesceConsecutiveRoles, stripToolCallIdPrefixes } = await load(CHAT);
  let history = [];
  let model = 'gemini-2.5-pro';
  const shown = [];
  for (const [name, ...given] of script) {
    if (name === 'append') history.push(given[0]);
    else if (name === 'truncate') history = history.slice(0, given[0]);
    else if (name === 'replace') history = [...history.slice(0, given[0]), ...given[1]];
    else if (name === 'modern') model = given[0] ? 'gemini-2.5-pro' : 'gemini-1.5-pro';
    else {
      const chat = chatOf(GeminiChat, history, model);
      const kept = chat.getHistory(name !== 'whole');
      const turns = name === 'whole' ? kept : asContents(coalesceConsecutiveRoles(asTurns(kept)));
      if (name === 'signed') {
        shown.push(stripToolCallIdPrefixes(chat.ensureActiveLoopHasThoughtSignatures(turns)));
      } else shown.push(name === 'plain' ? stripToolCallIdPrefixes(turns) : turns);
    }
  }
  return shown;
}
