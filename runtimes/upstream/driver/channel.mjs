// The pipes to Python, one JSON object a line.
//
//   inbox     Python → here, read when the loop turns: answers, commands, timers that are due
//   outbox    here → Python, written at once: blocking, so nothing that was said can be lost
//   replies   Python → here, read on the spot: what `call` waits for, without the loop turning
//   lifeline  held open by Python: its end means that nobody is there any more (lifeline.mjs)
//
// Their descriptors are the last argument of the command line, in this order.
//
// `call` is why a client's reaction to an event (an abort, say) happens inside the core's own call
// of its subscriber, as it would in one process.
import fs from 'node:fs';
import net from 'node:net';

const [INBOX, OUTBOX, REPLIES, LIFELINE] = process.argv.at(-1).split(',').map(Number);
const BLOCK = 1 << 16;

export { LIFELINE };

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

  /** Hand every inbox message to `handle`; `gone` when Python has closed the pipe. */
  listen(handle, gone) {
    const lines = new Lines();
    const inbox = new net.Socket({ fd: INBOX, readable: true, writable: false });
    inbox.on('data', (chunk) => {
      for (const line of lines.feed(chunk)) {
        this.received += 1;
        handle(JSON.parse(line));
      }
    });
    inbox.on('end', gone);
    inbox.on('error', gone);
  }

  /** Say `message` and go on. */
  tell(message) {
    this.#onWrite();
    const line = Buffer.from(`${JSON.stringify(message)}\n`, 'utf8');
    for (let from = 0; from < line.length; ) from += fs.writeSync(OUTBOX, line, from);
  }

  /** Say `message` and wait for the reply to it, while everything here stands still. */
  call(message) {
    this.tell({ ...message, reply: true });
    for (;;) {
      const count = fs.readSync(REPLIES, this.#buffer, 0, BLOCK, null);
      if (count === 0) process.exit(0);
      const [line] = this.#replies.feed(Buffer.from(this.#buffer.subarray(0, count)));
      if (line !== undefined) return JSON.parse(line);
    }
  }
}
