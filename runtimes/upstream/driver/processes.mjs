// The processes that the core starts: which of them are work in progress, what is left over, and by
// which numbers they are spoken of.
//
// Process ids are shown to the model, so they are numbered from 4242 on, in the order in which they
// are started; where the core uses such a number, it is translated back.
import childProcess from 'node:child_process';
import { realTimeout, stackHere } from './seams.mjs';

/** Where a server is started, which may live as long as the session does. */
const SERVER_START = /[\\/]client[\\/]stdio\.js/;
/** Where a command is started whose process id is shown to the model. */
const SHOWN_START = /[\\/]services[\\/]shellExecutionService\.js/;
const FIRST_SHOWN = 4242;
/** How long a process that has ended may take to hand over the last of its output. */
const LAST_OUTPUT_MS = 250;

const realKill = process.kill.bind(process);

export class Processes {
  #working = new Set();
  #started = new Map();
  #shown = new Map();
  #table;

  /** `table` is the lifeline's: whom to end should this process be ended. */
  constructor(table) {
    this.#table = table;
  }

  /** Whether the core waits for a process, as far as can be told. */
  get busy() {
    return this.#working.size > 0;
  }

  install() {
    const processes = this;
    const spawn = childProcess.ChildProcess.prototype.spawn;
    childProcess.ChildProcess.prototype.spawn = function (options) {
      const stack = stackHere();
      const [command, flag, pid] = options.args ?? [];
      if (command === 'pgrep' && flag === '-P') options.args[2] = String(processes.real(Number(pid)));
      const result = spawn.call(this, options);
      if (this.pid === undefined) return result;
      const server = SERVER_START.test(stack);
      processes.#follow(this, this.pid, options.detached === true, server);
      if (SHOWN_START.test(stack)) this.pid = processes.shown(this.pid);
      return result;
    };
    process.kill = (pid, name) => {
      const real = processes.real(Math.abs(pid));
      return realKill(pid < 0 ? -real : real, name);
    };
  }

  /** The number by which the real process `pid` is spoken of. */
  shown(pid) {
    for (const [shown, real] of this.#shown) if (real === pid) return shown;
    const shown = FIRST_SHOWN + this.#shown.size;
    this.#shown.set(shown, pid);
    return shown;
  }

  /** The real process behind a number. */
  real(pid) {
    return this.#shown.get(pid) ?? pid;
  }

  /** The process spoken of as `pid` was sent to the background: nobody waits for it any more. */
  release(pid) {
    this.#working.delete(this.real(pid));
  }

  /** End whatever a session left running; the next one counts anew. */
  endAll() {
    for (const [pid, target] of this.#started) {
      signal(target, 'SIGKILL');
      this.#forget(pid);
    }
    this.#working.clear();
    this.#shown.clear();
  }

  #follow(child, pid, detached, server) {
    const target = detached ? -pid : pid;
    this.#started.set(pid, target);
    const place = this.#table.indexOf(0);
    if (place >= 0) this.#table[place] = target;
    if (!server) this.#working.add(pid);
    const over = () => this.#working.delete(pid);
    child.once('close', over);
    child.once('exit', () => {
      realTimeout(over, LAST_OUTPUT_MS).unref();
      // A detached one leads a group, whose other members may go on without it.
      if (!detached || !signal(target, 0)) this.#forget(pid);
    });
  }

  #forget(pid) {
    const place = this.#table.indexOf(this.#started.get(pid));
    if (place >= 0) this.#table[place] = 0;
    this.#started.delete(pid);
  }
}

/** Send a signal; false when there is nobody to get it. */
function signal(target, name) {
  try {
    return realKill(target, name);
  } catch {
    return false;
  }
}
