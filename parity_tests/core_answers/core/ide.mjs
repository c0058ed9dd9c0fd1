// The core's half of the subjects of ide.py.
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
