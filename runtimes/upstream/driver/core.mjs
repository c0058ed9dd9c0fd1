// The installed package: the needed parts, by name, and the missing ones.
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** Without one of these there is no session; `parity` names those that a version lacks. */
const NEEDED = [
  'BaseLlmClient',
  'Config',
  'CoreEvent',
  'LegacyAgentSession',
  'LoggingContentGenerator',
  'MessageBusType',
  'ShellExecutionService',
  'convertSessionToClientHistory',
  'coreEvents',
  'createPolicyEngineConfig',
  'loadConversationRecord',
];

const load = (...parts) => import(pathToFileURL(path.join(...parts)).href);

/**
 * Import the package in `folder`.
 *
 * Returns its exports, the SDK that it uses, the library of differences, and `toolCall`,
 * which says inside which call's execution one is. Throws with `missing`, the names that the package lacks.
 */
export async function loadCore(folder) {
  const core = await load(folder, 'dist', 'index.js');
  const missing = NEEDED.filter((name) => core[name] === undefined);
  const sdk = createRequire(path.join(folder, 'dist', 'index.js')).resolve('@google/genai/node');
  // The command line tool around the core brings the same one along.
  const diff = await load(createRequire(path.join(folder, 'dist', 'index.js')).resolve('diff'));
  const genai = await import(pathToFileURL(sdk).href);
  for (const name of ['ApiError', 'GenerateContentResponse']) {
    if (genai[name] === undefined) missing.push(`@google/genai ${name}`);
  }
  if (missing.length > 0) throw Object.assign(new Error('symbols are missing'), { missing });
  return { core, diff, genai, toolCall: await toolCallOf(folder) };
}

/** Without a version's knowledge of a child's call, every request counts as the main agent's. */
async function toolCallOf(folder) {
  try {
    const context = await load(folder, 'dist', 'src', 'utils', 'toolCallContext.js');
    return () => context.getToolCallContext?.()?.callId;
  } catch {
    return () => undefined;
  }
}
