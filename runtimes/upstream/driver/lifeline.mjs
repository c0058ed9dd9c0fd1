// Ends this process, and every process group that it started, when Python is gone.
//
// On a thread of its own: the main one may be waiting for a reply, or be stuck in a loop for ever.
import fs from 'node:fs';
import { isMainThread, Worker, workerData } from 'node:worker_threads';

const PLACES = 1024;

/**
 * Start the watch. Returns the table in which whom to end is noted: a process id, a negative one
 * for a whole group; 0 is an empty place.
 */
export function watchLifeline(lifeline) {
  const table = new Int32Array(new SharedArrayBuffer(4 * PLACES));
  new Worker(new URL(import.meta.url), { workerData: { lifeline, table } }).unref();
  return table;
}

if (!isMainThread) {
  const { lifeline, table } = workerData;
  const byte = Buffer.alloc(1);
  while (fs.readSync(lifeline, byte, 0, 1, null) > 0);
  for (const target of table) {
    if (target === 0) continue;
    try {
      process.kill(target, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
  process.kill(process.pid, 'SIGKILL');
}
