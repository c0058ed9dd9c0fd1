// The core's half of the subjects of recordings.py.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const KEPT = ['sessionId', 'projectHash', 'startTime', 'lastUpdated', 'summary',
  'memoryScratchpad', 'directories', 'kind'];
const FACTS = ['messageCount', 'userMessageCount', 'memoryScratchpadIsStale', 'firstUserMessage',
  'hasResumableContent'];

export async function loaded(text, load) {
  const { loadConversationRecord } = await load('services/chatRecordingService.js');
  const folder = mkdtempSync(path.join(os.tmpdir(), 'answers-'));
  const file = path.join(folder, 'session-x.jsonl');
  try {
    writeFileSync(file, text);
    const whole = await loadConversationRecord(file);
    const about = await loadConversationRecord(file, { metadataOnly: true });
    const of = (record, keys) => Object.fromEntries(keys.map((key) => [key, record[key] ?? null]));
    return [
      whole && { ...of(whole, KEPT), messages: whole.messages ?? [] },
      about && of(about, [...KEPT, ...FACTS]),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export async function history(messages, load) {
  const { convertSessionToClientHistory } = await load('utils/sessionUtils.js');
  return convertSessionToClientHistory(messages).map(({ id, content }) => [id, content]);
}
