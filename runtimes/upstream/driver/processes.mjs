// The processes that the core starts: which of them are work in progress, what is left over, and by
// which numbers they are spoken of.
//
// Process ids are shown to the model, so they are numbered from 4242 on, in the order in which they
// are started; where the core uses such a number, it is translated back.
import childProcess from 'node:child_process';
import { stackHere } from './seams.mjs';

/** Where a server is started, which may live as long as the session does. */
const SERVER_START = /[\\/]client[\\/]stdio\.js/;
/** Where a command is started whose process id is shown to the model. */
const SHOWN_START = /[\\/]services[\\/]shellExecutionService\.js/;
const FIRST_SHOWN = 4242;

const realKill = process.kill.bind(process);

export class Processes {
  #working = new Set();
  #started = new Map();
  #shown = new Map();
  #toEnd;
  #timers;

  /**
   * `toEnd` is the lifeline's: whom to end should this process be ended. `timers` hear which
   * servers are asked and which have ended.
   */
  constructor(toEnd, timers) {
    this.#toEnd = toEnd;
    this.#timers = timers;
  }

  /** Whether the core waits for a process, as far as is known. */
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
      const result = processes.#toEnd.while(() => {
        const started = spawn.call(this, options);
        if (this.pid === undefined) return started;
        processes.#follow(this, this.pid, options.detached === true, SERVER_START.test(stack));
        return started;
      });
      if (this.pid === undefined) return result;
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

  /** The process shown as `pid` went to the background: the core does not wait for it any more. */
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
    this.#toEnd.add(target);
    if (server) this.#serve(child);
    else this.#working.add(pid);
    // Not at its exit: the core waits until all holders of the output have closed it.
    child.once('close', () => this.#working.delete(pid));
    child.once('exit', () => {
      // A detached one leads a group, whose other members may go on without it.
      if (!detached || !signal(target, 0)) this.#forget(pid);
    });
  }

  #serve(child) {
    const write = child.stdin.write;
    child.stdin.write = (...given) => {
      this.#timers.serverAsked(child);
      return write.apply(child.stdin, given);
    };
    child.once('close', () => this.#timers.serverEnded(child));
  }

  #forget(pid) {
    this.#toEnd.remove(this.#started.get(pid));
    this.#started.delete(pid);
  }
}

/** Send a signal; false when the process is gone. */
function signal(target, name) {
  try {
    return realKill(target, name);
  } catch {
    return false;
  }
}
