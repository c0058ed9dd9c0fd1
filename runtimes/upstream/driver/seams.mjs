// Time, chance and identity, taken out of the core's hands before it is imported.
//
// With these pinned a session is a function of what Python says: dates follow Python's clock, the
// core's own retry waits end when Python's clock reaches them, ids are counted, jitter is 0.5.
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { promisify } from 'node:util';

/** Where the core chooses to wait. Every other timer guards something real and stays real. */
const CHOSEN_WAIT =
  /[\\/](?:utils[\\/](?:delay|retry|deadlineTimer)|core[\\/]geminiChat|agents[\\/]local-executor)\.js/;
/** Where a random number spreads the waits before retries. */
const JITTER = /[\\/]utils[\\/](?:delay|retry)\.js/;
/** Where the core makes the id of a task. */
const TASK_ID = /[\\/]services[\\/]trackerService\.js/;
/** Where the core looks again and again whether something else has happened. */
const POLL = /[\\/]scheduler[\\/]scheduler\.js/;
/** Where the core waits for an answer from a server that it started. */
const SERVER_CALL = /[\\/]shared[\\/]protocol\.js/;
/** Where the core gives a server a moment to end. */
const SERVER_END = /[\\/]client[\\/]stdio\.js/;
/** A timer no longer than this is a pause of the program's; a longer one is a limit on something. */
const LONGEST_PAUSE_MS = 1000;

const real = {
  Date: globalThis.Date,
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
};

/** A timer of real time, for the driver's own use. */
export const realTimeout = real.setTimeout;

export const stackHere = () => {
  const holder = {};
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 24;
  Error.captureStackTrace(holder, stackHere);
  Error.stackTraceLimit = limit;
  return holder.stack;
};

/** The caller of a replaced function, and the two frames next to it; others may be unrelated. */
export const callerHere = () => {
  const frames = stackHere().split('\n');
  return frames.filter((frame) => !frame.includes(' at async ')).slice(3, 6).join('\n');
};

/** The date that the core sees; moved by every message from Python. */
export class Clock {
  now = 0;

  install() {
    const clock = this;
    globalThis.Date = class Date extends real.Date {
      constructor(...given) {
        if (given.length === 0) super(clock.now);
        else super(...given);
      }
      static now() {
        return clock.now;
      }
    };
  }
}

/** Timers: the core's chosen waits go to Python, pauses are counted as work, limits are let be. */
export class Timers {
  #next = 1;
  #waits = new Map();
  #pauses = new Set();
  /** Limits on calls to servers → the process that was asked, once it is known. */
  #serverCalls = new Map();
  #send;

  /** `send` takes `{t: 'timer', id, ms}` and `{t: 'untimer', id}`. */
  constructor(send) {
    this.#send = send;
  }

  /** Whether something is pending that will happen by itself within moments. */
  get busy() {
    return this.#pauses.size > 0 || this.#serverCalls.size > 0;
  }

  install() {
    const timers = this;
    globalThis.setTimeout = function setTimeout(callback, ms, ...rest) {
      const stack = callerHere();
      if (CHOSEN_WAIT.test(stack)) return timers.#wait(callback, ms, rest);
      const short = !(ms > LONGEST_PAUSE_MS) || SERVER_END.test(stack);
      const pause = short && !POLL.test(stack);
      const serverCall = SERVER_CALL.test(stack);
      const handle = real.setTimeout(
        (...given) => {
          timers.#pauses.delete(handle);
          timers.#serverCalls.delete(handle);
          callback(...given);
        },
        ms,
        ...rest,
      );
      if (serverCall) timers.#serverCalls.set(handle, undefined);
      else if (pause) timers.#pauses.add(handle);
      return handle;
    };
    Object.defineProperty(globalThis.setTimeout, promisify.custom, {
      value: (ms, value) => new Promise((resolve) => globalThis.setTimeout(resolve, ms, value)),
    });
    globalThis.clearTimeout = function clearTimeout(handle) {
      if (handle instanceof Wait) return timers.#forget(handle.id);
      timers.#pauses.delete(handle);
      timers.#serverCalls.delete(handle);
      return real.clearTimeout(handle);
    };
  }

  /** Python's clock has reached the timer `id`. */
  fire(id) {
    const wait = this.#waits.get(id);
    this.#waits.delete(id);
    wait?.();
  }

  /** Something is written to `server`: the limit that was set just before is on that call. */
  serverAsked(server) {
    for (const [handle, asked] of this.#serverCalls) {
      if (asked === undefined) this.#serverCalls.set(handle, server);
    }
  }

  /** `server` has ended: limits on calls to it, which are never lifted, mean that no answer comes. */
  serverEnded(server) {
    for (const [handle, asked] of this.#serverCalls) {
      if (asked === server) this.#serverCalls.delete(handle);
    }
  }

  /** Drop what a session left pending. */
  reset() {
    this.#serverCalls.clear();
    for (const id of [...this.#waits.keys()]) this.#forget(id);
    for (const handle of this.#pauses) real.clearTimeout(handle);
    this.#pauses.clear();
  }

  #wait(callback, ms, rest) {
    const id = this.#next++;
    this.#waits.set(id, () => callback(...rest));
    this.#send({ t: 'timer', id, ms: Number(ms) || 0 });
    return new Wait(id);
  }

  #forget(id) {
    if (this.#waits.delete(id)) this.#send({ t: 'untimer', id });
  }
}

/** What `setTimeout` returns for a wait in Python's time. */
class Wait {
  constructor(id) {
    this.id = id;
  }
  ref() {
    return this;
  }
  unref() {
    return this;
  }
  hasRef() {
    return true;
  }
}

/** WebAssembly is compiled by threads that node does not count among what is going on. */
export class Compiling {
  #running = 0;

  get busy() {
    return this.#running > 0;
  }

  install() {
    for (const name of ['compile', 'instantiate']) {
      const original = WebAssembly[name];
      WebAssembly[name] = async (...given) => {
        this.#running += 1;
        try {
          return await original.apply(WebAssembly, given);
        } finally {
          this.#running -= 1;
        }
      };
    }
  }
}

/** Random ids and numbers that are the same in every run. */
export class Chance {
  #uuids = 0;
  #numbers = 0;
  #bytes = 0;
  #tasks = 0;
  #session = '';

  /** Begin anew for a session; another one, which may resume it, has ids of its own. */
  reset(session) {
    this.#session = session;
    this.#uuids = 0;
    this.#numbers = 0;
    this.#bytes = 0;
    this.#tasks = 0;
  }

  install() {
    Math.random = () => (JITTER.test(callerHere()) ? 0.5 : this.#number());
    crypto.randomUUID = () => this.#uuid();
    const realBytes = crypto.randomBytes;
    crypto.randomBytes = (size, callback) => {
      if (callback !== undefined) return realBytes(size, callback);
      if (TASK_ID.test(callerHere())) return this.#taskId(size);
      return this.#stream(`bytes ${++this.#bytes}`, size);
    };
    Object.defineProperty(globalThis.crypto, 'randomUUID', { value: () => this.#uuid() });
    syncBuiltinESMExports();
  }

  /** As `CountingIds` in Python: answers of a cassette's model name tasks by their ids. */
  #taskId(size) {
    const seed = `\0tracker-task ${this.#session}\0${++this.#tasks}`;
    return crypto.createHash('sha256').update(seed).digest().subarray(0, size);
  }

  #number() {
    return this.#stream(`number ${++this.#numbers}`, 4).readUInt32BE() / 2 ** 32;
  }

  #uuid() {
    const hex = this.#stream(`uuid ${++this.#uuids}`, 16).toString('hex');
    const variant = '89ab'[parseInt(hex[16], 16) & 3];
    return [
      hex.slice(0, 8),
      hex.slice(8, 12),
      `4${hex.slice(13, 16)}`,
      `${variant}${hex.slice(17, 20)}`,
      hex.slice(20),
    ].join('-');
  }

  #stream(seed, size) {
    const blocks = [];
    for (let have = 0, n = 0; have < size; have += 32, n += 1) {
      blocks.push(crypto.createHash('sha256').update(`${this.#session}\0${seed}\0${n}`).digest());
    }
    return Buffer.concat(blocks).subarray(0, size);
  }
}
