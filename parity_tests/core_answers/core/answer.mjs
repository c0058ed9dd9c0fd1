// Asks functions of the published core. argv[2] is the package, argv[3] the file for the answers;
// stdin has [[subject, input], …] as JSON. A room's module exports a function for each subject:
// (input, load) => answer, where load('utils/x.js') imports a module of the core.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , core, out] = process.argv;
const load = (file) => import(pathToFileURL(path.join(core, 'dist', 'src', file)).href);

const answers = [];
for (const [subject, input] of JSON.parse(readFileSync(0, 'utf8'))) {
  const [room, name] = subject.split('.');
  const ask = (await import(`./${room}.mjs`))[name];
  if (ask === undefined) throw new Error(`core/${room}.mjs exports no ${name}`);
  answers.push((await ask(input, load)) ?? null);
}
writeFileSync(out, JSON.stringify(answers));
process.exit(0);
