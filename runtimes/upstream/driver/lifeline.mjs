// Ends this process, and every process group that it started, when Python is gone.
//
// Whom to end is noted twice: in memory for the watcher here, and in a file for Python, which ends
// them where this process was killed itself.
//
// On a thread of its own: the main one may be waiting for a reply, or be stuck in a loop for ever.
import fs from 'node:fs';
import { isMainThread, Worker, workerData } from 'node:worker_threads';

const PLACES = 1024;
/** The place that is 1 while a process is being started that is not noted yet. */
const STARTING = 0;
const START_MS = 1000;

/** Whom to end: process ids, negative ones for whole groups. */
class Started {
  #table;
  #file;

  constructor(table, file) {
    this.#table = table;
    this.#file = file;
  }

  /** Call `start`, which starts a process and notes it; the watcher does not come in between. */
  while(start) {
    Atomics.store(this.#table, STARTING, 1);
    try {
      return start();
    } finally {
      Atomics.store(this.#table, STARTING, 0);
      Atomics.notify(this.#table, STARTING);
    }
  }

  add(target) {
    this.#replace(0, target);
  }

  remove(target) {
    this.#replace(target, 0);
  }

  #replace(old, target) {
    const place = this.#table.indexOf(old, STARTING + 1);
    if (place < 0) return;
    this.#table[place] = target;
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(target);
    fs.writeSync(this.#file, bytes, 0, 4, 4 * place);
  }
}

/** Start the watch. Returns where it is noted whom to end; `file` is a descriptor. */
export function watchLifeline(lifeline, file) {
  const table = new Int32Array(new SharedArrayBuffer(4 * PLACES));
  new Worker(new URL(import.meta.url), { workerData: { lifeline, table } }).unref();
  return new Started(table, file);
}

/** Stand still until the watcher ends this process: it has seen, or is about to, that it may. */
export function awaitTheEnd() {
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

if (!isMainThread) {
  const { lifeline, table } = workerData;
  const byte = Buffer.alloc(1);
  while (fs.readSync(lifeline, byte, 0, 1, null) > 0);
  Atomics.wait(table, STARTING, 1, START_MS);
  for (const target of table.subarray(STARTING + 1)) {
    if (target === 0) continue;
    try {
      process.kill(target, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
  process.kill(process.pid, 'SIGKILL');
}
