// Turns of the published core, for benchmarks/published_core.py: the core in this process, with a
// model that answers at once. Prints one JSON line.
//
//   node FLAGS core_turns.mjs PACKAGE_FOLDER PLAN
//
// PLAN is JSON: `way` ("cpu" or "rss"), `message` (what is sent), `chunks` (what the model answers
// every time); for "cpu" also `turns` (a list), `visits` and `block`, and the answer is seconds of
// each turn; for "rss", which needs --expose-gc, `turns` (a number) and `warmUp`, and it is bytes.
// For "busy" (all services on) there are `files` (names, to be read in turn) of `lines` lines,
// `words` to write and talk in, `usage`, `rules` of policy, `turns` (a list) and `window` (how many
// turns are measured from each of them on).
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const NEEDED = [
  'Config',
  'createPolicyEngineConfig',
  'BaseLlmClient',
  'LoggingContentGenerator',
  'LegacyAgentSession',
];

// The core logs to the console; standard output is for the result alone.
for (const level of ['log', 'debug', 'info', 'warn', 'error']) console[level] = () => {};
// The parent process holds the other end: this process ends with it.
process.stdin.on('end', () => process.exit(1)).resume();

async function importCore(folder) {
  const { main } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
  const core = await import(pathToFileURL(path.join(folder, main)).href);
  const missing = NEEDED.filter((name) => core[name] === undefined);
  if (missing.length) throw new Error(`the package exports no ${missing.join(', ')}`);
  return core;
}

function instantModel(chunks) {
  const absent = async () => {
    throw new Error('not part of a turn');
  };
  // Fresh objects each time, as from a network: the core writes into what it is given. Parsing
  // makes them with the least work.
  const texts = chunks.map((chunk) => JSON.stringify(chunk));
  return {
    requests: 0,
    async generateContentStream() {
      this.requests++;
      return (async function* () {
        for (const text of texts) yield JSON.parse(text);
      })();
    },
    generateContent: absent,
    countTokens: absent,
    embedContent: absent,
  };
}

function talkingModel(plan) {
  return {
    ...instantModel([]),
    async generateContentStream() {
      const number = this.requests++;
      const said = [0, 1, 2].map((piece) => ({ text: `${sentence(plan, 'said', number, piece)}. ` }));
      if (number % 2 === 0) {
        const args = { file_path: plan.files[(number / 2) % plan.files.length] };
        said[2] = { functionCall: { name: 'read_file', args } };
      }
      const chunks = said.map((part) => answer(part));
      chunks[2].candidates[0].finishReason = 'STOP';
      chunks[2].usageMetadata = { ...plan.usage };
      // What the SDK's class of responses works out; the core reads it there.
      if (said[2].functionCall) chunks[2].functionCalls = [said[2].functionCall];
      return (async function* () {
        yield* chunks;
      })();
    },
    async generateContent() {
      const verdict = { unproductive_state_analysis: 'No.', unproductive_state_confidence: 0.1 };
      const found = answer({ text: JSON.stringify(verdict) });
      found.candidates[0].finishReason = 'STOP';
      return found;
    },
  };
}

function answer(part) {
  return { candidates: [{ content: { role: 'model', parts: [part] }, index: 0 }] };
}

function largeFile(plan, name) {
  const lines = Array.from({ length: plan.lines }, (_, line) => line);
  return lines.map((line) => `line ${line}: ${sentence(plan, name, line)}\n`).join('');
}

function sentence(plan, ...about) {
  const digest = crypto.createHash('sha256').update(JSON.stringify(about)).digest();
  return [...digest.subarray(0, 7)].map((byte) => plan.words[byte % plan.words.length]).join(' ');
}

async function openConfig(core, model, number, more = {}) {
  const folder = path.resolve(`conversation-${number}`);
  fs.mkdirSync(folder);
  const policyEngineConfig = await core.createPolicyEngineConfig({}, 'default', undefined, false);
  for (const rule of more.rules ?? []) policyEngineConfig.rules.push(rule);
  for (const [name, text] of more.files ?? []) fs.writeFileSync(path.join(folder, name), text);
  const config = new core.Config({
    sessionId: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
    targetDir: folder,
    cwd: folder,
    model: 'gemini-2.5-flash',
    interactive: false,
    debugMode: false,
    folderTrust: true,
    trustedFolder: true,
    usageStatisticsEnabled: false,
    telemetry: { enabled: false },
    skipNextSpeakerCheck: true,
    // The same answer again and again is a loop to it: it would end streams before they ask the
    // model anything. Without it a turn is one model request, as on every side.
    disableLoopDetection: more.disableLoopDetection ?? true,
    maxSessionTurns: -1,
    policyEngineConfig,
  });
  // Signing in only looks whether there is a key; no client is ever asked.
  process.env.GEMINI_API_KEY = 'none';
  await config.refreshAuth('gemini-api-key');
  // Every generator that the core makes for itself is wrapped like this.
  config.contentGenerator = new core.LoggingContentGenerator(model, config);
  config.baseLlmClient = new core.BaseLlmClient(config.contentGenerator, config);
  await config.initialize();
  return config;
}

class Conversation {
  static async open(core, plan, number) {
    const model = instantModel(plan.chunks);
    const config = await openConfig(core, model, number);
    return new Conversation(new core.LegacyAgentSession({ config }), model, plan.message);
  }

  static async openBusy(core, plan) {
    const model = talkingModel(plan);
    const files = plan.files.map((name) => [name, largeFile(plan, name)]);
    const more = { rules: plan.rules, files, disableLoopDetection: false };
    const config = await openConfig(core, model, 0, more);
    const conversation = new Conversation(new core.LegacyAgentSession({ config }), model, '', 2);
    let asked = 0;
    conversation.message = () => `Prompt ${asked}: ${sentence(plan, 'asked', asked++)}`;
    return conversation;
  }

  constructor(session, model, message, perTurn = 1) {
    this.session = session;
    this.model = model;
    this.message = () => message;
    this.perTurn = perTurn;
    session.subscribe((event) => {
      if (event.type === 'agent_end') this.ended(event.reason);
    });
  }

  async turn() {
    const end = new Promise((resolve) => (this.ended = resolve));
    const before = this.model.requests;
    await this.session.send({ message: { content: [{ type: 'text', text: this.message() }] } });
    const reason = await end;
    if (reason !== 'completed') throw new Error(`a stream ended with ${reason}`);
    const requests = this.model.requests - before;
    if (requests !== this.perTurn) {
      throw new Error(`a turn made ${requests} model requests instead of ${this.perTurn}`);
    }
    // What the core still does after the last event belongs to the turn.
    await new Promise(setImmediate);
  }

  async turns(count) {
    for (let done = 0; done < count; done++) await this.turn();
  }
}

// As sampling.sample does it for our runtimes: by turns, the first turn of a visit not counted.
// It does not call gc(): that throws compiled code away, and the turns after it cost ten times as
// much. The parent process gives it so much room (--max-semi-space-size) that hardly any collection
// falls into a measured turn.
async function cpu(core, plan) {
  const window = plan.visits * (plan.block + 1);
  let order = [];
  for (const turn of plan.turns) {
    const conversation = await Conversation.open(core, plan, turn);
    await conversation.turns(turn - Math.floor(window / 2));
    order.push([turn, conversation]);
  }
  const seconds = Object.fromEntries(plan.turns.map((turn) => [turn, []]));
  for (let visit = 0; visit < plan.visits; visit++) {
    for (const [turn, conversation] of order) {
      await conversation.turn();
      for (let done = 0; done < plan.block; done++) seconds[turn].push(await cpuOfTurn(conversation));
    }
    order = [...order.slice(1), order[0]];
  }
  return seconds;
}

// One conversation: seconds of each turn of the windows. A collection that falls into one counts.
async function busy(core, plan) {
  const conversation = await Conversation.openBusy(core, plan);
  const seconds = {};
  let done = 0;
  for (const turn of plan.turns) {
    await conversation.turns(turn - done);
    seconds[turn] = [];
    for (let taken = 0; taken < plan.window; taken++) {
      seconds[turn].push(await cpuOfTurn(conversation));
    }
    done = turn + plan.window;
  }
  return seconds;
}

async function cpuOfTurn(conversation) {
  const begun = process.cpuUsage();
  await conversation.turn();
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1e6;
}

// As benchmarks/memory.py does it: bytes after the warm-up and after all turns, collected each time.
// `heap` is what is still referred to at the end: the rest of the growth is V8's to give back.
async function rss(core, plan) {
  const imported = collected().rss;
  const conversation = await Conversation.open(core, plan, plan.turns);
  await conversation.turns(plan.warmUp);
  const start = collected().rss;
  await conversation.turns(plan.turns - plan.warmUp);
  const { rss: end, heapUsed: heap } = collected();
  return { imported, start, end, heap, peak: process.resourceUsage().maxRSS * 1024 };
}

function collected() {
  globalThis.gc();
  return process.memoryUsage();
}

function fail(error) {
  fs.writeSync(2, `${error?.message ?? error}\n`);
  process.exit(1);
}

process.on('uncaughtException', fail);
const [, , folder, plan] = process.argv;
try {
  const asked = JSON.parse(plan);
  const found = await { cpu, rss, busy }[asked.way](await importCore(folder), asked);
  fs.writeSync(1, `${JSON.stringify(found)}\n`);
  process.exit(0);
} catch (error) {
  fail(error);
}
