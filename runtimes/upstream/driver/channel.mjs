// The pipes to Python, one JSON object a line.
//
//   inbox     Python → here, read when the loop turns: answers, commands, timers that are due
//   outbox    here → Python, written at once: blocking, so nothing that was said can be lost
//   replies   Python → here, read on the spot: what `call` waits for, without the loop turning
//   lifeline  held open by Python: its end means that Python has ended (lifeline.mjs)
//   started   a file, where it is noted which processes were started (lifeline.mjs)
//
// Their descriptors are the last argument of the command line, in this order.
//
// `call` is why a client's reaction to an event (an abort, say) happens inside the core's own call
// of its subscriber, as it would in one process.
import fs from 'node:fs';
import net from 'node:net';
import { awaitTheEnd } from './lifeline.mjs';

const { O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = fs.constants;
const given = process.argv.at(-1).split(',').map(Number);
const INBOX = own(given[0], O_RDONLY | O_NONBLOCK);
if (!open(INBOX)) process.exit(0);
const OUTBOX = own(given[1], O_WRONLY);
const REPLIES = own(given[2], O_RDONLY);
const LIFELINE = own(given[3], O_RDONLY);
const STARTED = own(given[4], O_RDWR);
const BLOCK = 1 << 16;

export { LIFELINE, STARTED };

/**
 * Open anew what was inherited. The core's own children would inherit it from here, as node only
 * sees to the first few descriptors, and would keep the pipes open after this process's end.
 */
function own(descriptor, flags) {
  const copy = fs.openSync(`/dev/fd/${descriptor}`, flags);
  fs.closeSync(descriptor);
  return copy;
}

/** Whether Python is there: opening a pipe that it has left would take for ever. */
function open(inbox) {
  try {
    return fs.readSync(inbox, Buffer.alloc(1), 0, 1, null) > 0;
  } catch (error) {
    return error.code === 'EAGAIN';
  }
}

/** Splits what arrives into lines, wherever the pipe cut it. */
class Lines {
  #parts = [];
  #bytes = 0;

  /** Take in `chunk` (a Buffer that is the caller's no more); return the lines it completes. */
  feed(chunk) {
    const found = [];
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      this.#parts.push(chunk.subarray(start, end));
      found.push(Buffer.concat(this.#parts).toString('utf8'));
      this.#parts = [];
      start = end + 1;
    }
    if (start < chunk.length) this.#parts.push(chunk.subarray(start));
    return found;
  }
}

export class Channel {
  /** Inbox messages taken in so far; Python counts the same ones, see `idle` in driver.mjs. */
  received = 0;
  #replies = new Lines();
  #buffer = Buffer.alloc(BLOCK);
  #onWrite;

  /** `onWrite` hears of every message that leaves. */
  constructor(onWrite) {
    this.#onWrite = onWrite;
  }

  /** Hand every inbox message to `handle`, until Python has closed the pipe. */
  listen(handle) {
    const lines = new Lines();
    const inbox = new net.Socket({ fd: INBOX, readable: true, writable: false });
    inbox.on('data', (chunk) => {
      for (const line of lines.feed(chunk)) {
        this.received += 1;
        handle(JSON.parse(line));
      }
    });
    inbox.on('end', awaitTheEnd);
    inbox.on('error', awaitTheEnd);
  }

  /** Send `message` without waiting. */
  send(message) {
    this.#onWrite();
    const line = Buffer.from(`${JSON.stringify(message)}\n`, 'utf8');
    try {
      for (let from = 0; from < line.length; ) from += fs.writeSync(OUTBOX, line, from);
    } catch (error) {
      if (error.code === 'EPIPE') awaitTheEnd();
      throw error;
    }
  }

  /** Send `message` and block this process until the reply comes. */
  call(message) {
    this.send({ ...message, reply: true });
    for (;;) {
      const count = fs.readSync(REPLIES, this.#buffer, 0, BLOCK, null);
      if (count === 0) awaitTheEnd();
      const [line] = this.#replies.feed(Buffer.from(this.#buffer.subarray(0, count)));
      if (line !== undefined) return JSON.parse(line);
    }
  }
}
