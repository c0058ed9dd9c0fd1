// The core's half of the subjects of javascript.py: what the language and Node give.
import { getSystemErrorMap } from 'node:util';

export const json = (value) => [
  JSON.stringify(value),
  JSON.stringify(value, null, 2),
  JSON.stringify(value, null, 4),
  String(value),
  Boolean(value),
  entries(value),
];

function entries(value) {
  try {
    return Object.entries(value);
  } catch (error) {
    return error.message;
  }
}

export const number = (text) => [JSON.stringify(Number(text)), String(Number(text))];

export function units(asked) {
  const text = String.fromCharCode(...asked.units);
  const found = text.slice(asked.start, asked.end ?? undefined);
  return [text.length, found.toWellFormed(), JSON.stringify(text)];
}

export const trim = (text) => [text.trim(), text.trimEnd()];

export const grouped = (value) => value.toLocaleString('en-US');

// As an error of `fs` is written: CODE: meaning, call 'path'.
export function system_error([number, call, path]) {
  const [code, meaning] = getSystemErrorMap().get(number === null ? -4094 : -number);
  const where = path === null ? '' : ` '${path}'`;
  return [code, `${code}: ${meaning}, ${call}${where}`];
}
