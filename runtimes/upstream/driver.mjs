// Drives the published core for `parity`: one session at a time, in a process that stays warm.
//
//   node driver.mjs PACKAGE_FOLDER PIPES      see driver/channel.mjs
//
// Python says `open`, then commands, then `close`; the core's events, model requests, tool states,
// notices and waits are said back. After `close` the next `open` may come: nothing of a session
// stays, or `closed` says what did and the process is not used again.
import path from 'node:path';
import { Children } from './driver/children.mjs';
import { Channel, LIFELINE, STARTED } from './driver/channel.mjs';
import { loadCore } from './driver/core.mjs';
import { installFiles } from './driver/files.mjs';
import { lasting, Leftovers } from './driver/leftovers.mjs';
import { watchLifeline } from './driver/lifeline.mjs';
import { Model } from './driver/model.mjs';
import { Processes } from './driver/processes.mjs';
import { Requests } from './driver/requests.mjs';
import { Chance, Clock, Compiling, realTimeout, Timers } from './driver/seams.mjs';
import { Session } from './driver/session.mjs';

/** Requests of the event loop that are moments away from their end. */
const PASSING = /^(FSReq|GetAddrInfo|GetNameInfo|TCPConnect|PipeConnect|WriteWrap|ShutdownWrap|CloseReq|FileHandleCloseReq|Immediate|ZLIB|BrotliEncoder|BrotliDecoder)/;
const LOOK_AGAIN_MS = 2;

const clock = new Clock();
const chance = new Chance();
const channel = new Channel(() => looked());
const compiling = new Compiling();
const timers = new Timers((message) => channel.send(message));
const processes = new Processes(watchLifeline(LIFELINE, STARTED), timers);
const requests = new Requests();

let session;
let model;
let saidIdle = false;
let looking = false;

clock.install();
compiling.install();
timers.install();
chance.install();
processes.install();
requests.install();
installFiles((pid) => processes.shown(pid));

/** Something happened: what was said about being idle holds no more. */
function looked() {
  saidIdle = false;
  if (!looking) look();
}

/** Say `idle` once nothing is left to happen here unless Python says or does something. */
function look() {
  looking = true;
  setImmediate(() => {
    if (busy()) {
      realTimeout(look, LOOK_AGAIN_MS);
      return;
    }
    looking = false;
    if (saidIdle) return;
    channel.send({ t: 'idle', received: channel.received });
    saidIdle = true;
  });
}

function busy() {
  if (timers.busy || processes.busy || requests.busy || compiling.busy) return true;
  return process.getActiveResourcesInfo().some((kind) => PASSING.test(kind));
}

/** Take the reply to a call: the time, and the commands of the client. */
function perform({ now, commands }) {
  clock.now = now;
  for (const command of commands) void run(command);
}

const LIFE = {
  async open({ setup }) {
    chance.reset(setup.sessionId);
    const parts = { channel, core, perform };
    model = new Model({ channel, genai: core.genai, toolCall: core.toolCall, perform });
    session = new Session(parts, setup);
    return session.open(model);
  },
  async close() {
    await session.close();
    const dirty = lasting(session.settings, session.toolsUsed, model.declarations);
    await cleanUp();
    return { dirty, memory: process.memoryUsage.rss() };
  },
};

async function run(command) {
  const { id, t } = command;
  try {
    const value = t in LIFE ? await LIFE[t](command) : await session[t](command);
    channel.send({ t: 'done', id, value: value ?? null });
  } catch (error) {
    const { name, message } = asError(error);
    process.stderr.write(`${t} failed: ${error?.stack ?? error}\n`);
    channel.send({ t: 'failed', id, name, message });
  }
}

const ASIDE = {
  answer: (message) => model?.answer(message),
  fire: ({ timer }) => timers.fire(timer),
  reply: (message) => session?.reply(message),
};

function handle(message) {
  clock.now = message.now;
  if (message.t in ASIDE) ASIDE[message.t](message);
  else void run(message);
  looked();
}

/** Leave nothing of the session behind. */
async function cleanUp() {
  await leftovers.clear(core.core);
  processes.endAll();
  timers.reset();
  requests.reset();
  children.reset();
  process.chdir(path.parse(process.cwd()).root);
  session = undefined;
  model = undefined;
}

function asError(error) {
  return error instanceof Error ? error : new Error(String(error));
}

process.on('unhandledRejection', (error) => {
  process.stderr.write(`unhandled rejection: ${error?.stack ?? error}\n`);
});

const core = await loadCore(process.argv[2]).catch((error) => {
  channel.send({ t: 'unusable', missing: error.missing ?? [], message: asError(error).message });
  process.exit(1);
});
// What the core would load at its first command, by threads whose work cannot be seen from here.
await core.core.initializeShellParsers?.();
const leftovers = await Leftovers.of(core.core, process.argv[2]);
core.core.ShellExecutionService.background = released(core.core.ShellExecutionService.background);
const children = new Children((message) => channel.send(message), core.toolCall);
await children.install(process.argv[2]);
channel.listen(handle);
channel.send({ t: 'ready', node: process.versions.node });

function released(background) {
  return function (pid, ...rest) {
    processes.release(pid);
    return background.call(this, pid, ...rest);
  };
}
