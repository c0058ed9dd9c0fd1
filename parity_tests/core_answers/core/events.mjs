// The core's half of the subjects of events.py.

export async function shown(parts, load) {
  const { geminiPartsToContentParts } = await load('agent/content-utils.js');
  return geminiPartsToContentParts(parts);
}

export async function sent(content, load) {
  const { contentPartsToGeminiParts } = await load('agent/content-utils.js');
  return contentPartsToGeminiParts(content);
}

export async function ended(reason, load) {
  const { mapFinishReason } = await load('agent/event-translator.js');
  return mapFinishReason(reason);
}

export async function failed(error, load) {
  const { mapError } = await load('agent/event-translator.js');
  const { _meta: meta, ...fields } = mapError(error);
  const { rawError: raw, ...rest } = meta ?? {};
  const kept = raw && { message: raw.message, ...('status' in raw && raw.status !== null && { status: raw.status }) };
  return { ...fields, _meta: meta ? { status: null, ...rest, rawError: kept } : null };
}
