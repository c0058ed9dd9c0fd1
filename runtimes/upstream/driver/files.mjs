// Files answer at once. In which order a pool of threads gets round to them is chance, and what is
// listed first in a prompt, or which of two agents asks the model first, must not be.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';

const AT_ONCE = [
  'access',
  'appendFile',
  'copyFile',
  'lstat',
  'mkdir',
  'mkdtemp',
  'readFile',
  'readdir',
  'readlink',
  'realpath',
  'rename',
  'rm',
  'stat',
  'unlink',
  'writeFile',
];
/** The shell tool's note of the processes that a command left in the background. */
const PROCESS_NOTE = 'bgpids.tmp';

/** `shown` gives the number by which a process id is spoken of. */
export function installFiles(shown) {
  for (const name of AT_ONCE) {
    const callback = fs[name];
    const atOnce = fs[`${name}Sync`];
    fs.promises[name] = async (...given) => {
      // An open file handle is read through the handle.
      if (given[0]?.fd !== undefined) given[0] = given[0].fd;
      return translated(given[0], atOnce(...given), shown);
    };
    fs[name] = Object.assign((...given) => {
      const done = given.pop();
      if (typeof done !== 'function') return callback(...given, done);
      let answer;
      try {
        answer = [null, atOnce(...given)];
      } catch (error) {
        answer = [error];
      }
      setImmediate(done, ...answer);
    }, callback);
  }
  syncBuiltinESMExports();
}

function translated(file, content, shown) {
  if (typeof file !== 'string' || path.basename(file) !== PROCESS_NOTE) return content;
  return String(content).replace(/\d+/g, (pid) => String(shown(Number(pid))));
}
