// The core's half of the subjects of skills.py.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export async function loaded(files, load) {
  const { loadSkillsFromDir } = await load('skills/skillLoader.js');
  const folder = mkdtempSync(path.join(os.tmpdir(), 'answers-'));
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
      writeFileSync(path.join(folder, name), text);
    }
    const found = await loadSkillsFromDir(folder);
    return found
      .map((each) => [path.relative(folder, each.location), each.name, each.description, each.body])
      .sort((one, other) => (one[0] < other[0] ? -1 : 1));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
