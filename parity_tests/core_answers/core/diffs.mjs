// The core's half of the subjects of diffs.py.
import { createRequire } from 'node:module';
import path from 'node:path';

const required = createRequire(path.join(process.argv[2], 'dist', 'src', 'index.js'));

export function patch([before, after, context]) {
  const { createPatch, diffLines } = required('diff');
  const kinds = diffLines(before, after).map((each) => [
    each.added ? 'added' : each.removed ? 'removed' : 'kept',
    each.count,
    each.value,
  ]);
  return [createPatch('a/b.txt', before, after, 'old', 'new', { context }), kinds];
}

export const distance = ([left, right]) => required('fast-levenshtein').get(left, right);

export async function nearest([unknown, names], load) {
  const { getToolSuggestion } = await load('utils/tool-utils.js');
  return getToolSuggestion(unknown, names);
}
