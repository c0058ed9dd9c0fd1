// The core's half of the subjects of yaml.py.
import { createRequire } from 'node:module';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const required = createRequire(path.join(process.argv[2], 'dist', 'src', 'index.js'));

function shown(value) {
  if (value === undefined) return { kind: 'undefined' };
  if (value instanceof Date) return { kind: 'date' };
  if (typeof value === 'number' && !Number.isFinite(value)) return { kind: String(value) };
  if (Array.isArray(value)) return value.map(shown);
  if (value !== null && typeof value === 'object') {
    return { kind: 'object', entries: Object.entries(value).map(([key, each]) => [key, shown(each)]) };
  }
  return value;
}

export function value(text) {
  try {
    return shown(required('js-yaml').load(text));
  } catch {
    return { kind: 'error' };
  }
}

// The text begins on the second line of its file.
export function refused(text) {
  try {
    required('js-yaml').load(text);
  } catch (error) {
    return `${error.reason} (line ${error.mark.line + 2})`;
  }
  return null;
}

export async function skill(text, load) {
  const { loadSkillFromFile } = await load('skills/skillLoader.js');
  const folder = mkdtempSync(path.join(os.tmpdir(), 'skill-'));
  const file = path.join(folder, 'SKILL.md');
  writeFileSync(file, text);
  try {
    const found = await loadSkillFromFile(file);
    return found && [found.name, found.description, found.body];
  } finally {
    rmSync(folder, { recursive: true });
  }
}
