// The core's half of the subjects of speaker.py.

// The descriptions are in our own words.
function undescribed(schema) {
  if (schema === null || typeof schema !== 'object' || Array.isArray(schema)) return schema;
  const kept = Object.entries(schema).filter(([key]) => key !== 'description');
  return Object.fromEntries(kept.map(([key, each]) => [key, undescribed(each)]));
}

export async function next({ curated, shown, answer }, load) {
  const { checkNextSpeaker } = await load('utils/nextSpeakerChecker.js');
  const calls = [];
  const model = {
    async generateJson({ modelConfigKey, contents, role, promptId, abortSignal, schema }) {
      calls.push({ config: modelConfigKey.model, contents, role, prompt: promptId,
        signal: Boolean(abortSignal), schema: undescribed(schema) });
      if (answer === 'fails') throw new Error(answer);
      return answer;
    },
  };
  const chat = { getHistory: (wanted) => (wanted ? curated : shown) };
  const found = await checkNextSpeaker(chat, model, new AbortController().signal, 'p');
  return [found?.next_speaker ?? null, calls];
}
