// Checkpoints as the command line tool around the core saves and restores them, with the core's own
// functions.
//
// Source: gemini-cli `packages/cli/src/ui/hooks/useGeminiStream.ts` (it saves again at every change
// of a waiting call; once is enough here) and `ui/commands/restoreCommand.ts`.
import fs from 'node:fs';
import path from 'node:path';

const SUFFIX = '.json';

export class Checkpoints {
  #core;
  #config;
  #seen = new Set();
  /** Settled when everything is saved so far; undefined while there was nothing to save. */
  saved;

  constructor(core, config) {
    this.#core = core;
    this.#config = config;
  }

  /** Save a checkpoint for each edit that has begun to wait for the user. */
  note(calls) {
    if (!this.#config.getCheckpointingEnabled()) return;
    const waiting = calls.filter(
      ({ status, request, correlationId }) =>
        status === 'awaiting_approval' &&
        this.#core.EDIT_TOOL_NAMES.has(request.name) &&
        !this.#seen.has(`${request.callId} ${correlationId}`),
    );
    for (const { request, correlationId } of waiting) {
      this.#seen.add(`${request.callId} ${correlationId}`);
      this.saved = (this.saved ?? Promise.resolve()).then(() => this.#save(request));
    }
  }

  /** Restore a checkpoint: its name, or its number from 0, oldest first. */
  async restore(chosen) {
    const names = this.#names();
    const name = typeof chosen === 'number' ? (names[chosen] ?? String(chosen)) : chosen;
    const file = name.endsWith(SUFFIX) ? name : `${name}${SUFFIX}`;
    if (!names.includes(file.slice(0, -SUFFIX.length))) return failed(`File not found: ${file}`);
    const restored = { messages: [], toolCall: null, shown: null };
    try {
      await this.#restore(path.join(this.#folder, file), restored);
    } catch (error) {
      restored.messages.push({
        severity: 'error',
        message: `Could not read restorable tool calls. This is the error: ${error}`,
      });
    }
    return restored;
  }

  async #save(request) {
    const { checkpointsToWrite } = await this.#core.processRestorableToolCalls(
      [request],
      await this.#config.getGitService(),
      this.#config.getGeminiClient(),
      [],
    );
    fs.mkdirSync(this.#folder, { recursive: true });
    for (const [file, text] of checkpointsToWrite) {
      fs.writeFileSync(path.join(this.#folder, file), text);
    }
  }

  /** Write into `restored` what was done, until it is done or fails. */
  async #restore(file, restored) {
    const document = JSON.parse(fs.readFileSync(file, 'utf8'));
    const read = this.#core.getToolCallDataSchema().safeParse(document);
    if (!read.success) {
      const message = `Checkpoint file is invalid: ${read.error.message}`;
      restored.messages.push({ severity: 'error', message });
      return;
    }
    const git = await this.#config.getGitService();
    for await (const action of this.#core.performRestore(read.data, git)) {
      if (action.type === 'message') {
        restored.messages.push({ severity: action.messageType, message: action.content });
      } else {
        restored.shown = action.history;
        this.#config.getGeminiClient().setHistory(action.clientHistory);
      }
    }
    const { name, args } = read.data.toolCall;
    restored.toolCall = { name, args };
  }

  get #folder() {
    return this.#config.storage.getProjectTempCheckpointsDir();
  }

  #names() {
    if (!fs.existsSync(this.#folder)) return [];
    const files = fs.readdirSync(this.#folder).filter((name) => name.endsWith(SUFFIX));
    return files.map((name) => name.slice(0, -SUFFIX.length)).sort();
  }
}

const failed = (message) => ({
  messages: [{ severity: 'error', message }],
  toolCall: null,
  shown: null,
});
