// Which stretches of two texts differ: characters where the texts are short enough to try them all,
// words where they are longer, and everything between the common ends otherwise.

const MOST_STEPS = 400_000;
const SHORTEST_EQUAL = 4; // shorter ones between two changes are chance, and confetti to look at
const LEAST_ALIKE = 0.4; // texts with less in common are two texts, not one that was changed

// Two lists of [text, differs], one for each side.
function textDiff(control, candidate) {
  const before = commonStart(control, candidate);
  const after = commonEnd(control.slice(before), candidate.slice(before));
  const one = control.slice(before, control.length - after);
  const other = candidate.slice(before, candidate.length - after);
  const [left, right] = middle(one, other);
  const head = [control.slice(0, before), false];
  const tail = [control.slice(control.length - after), false];
  return [left, right].map((runs) => joined([head, ...runs, tail]));
}

function middle(one, other) {
  for (const split of [characters, words]) {
    const a = split(one);
    const b = split(other);
    if (a.length * b.length > MOST_STEPS) continue;
    const found = aligned(a, b);
    if (likeness(found[0]) >= LEAST_ALIKE || likeness(found[1]) >= LEAST_ALIKE) return found;
    break;
  }
  return [[[one, true]], [[other, true]]];
}

function likeness(runs) {
  const total = runs.reduce((sum, [text]) => sum + text.length, 0);
  const same = runs.reduce((sum, [text, differs]) => sum + (differs ? 0 : text.length), 0);
  return total ? same / total : 1;
}

const characters = (text) => Array.from(text);
const words = (text) => text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];

function commonStart(one, other) {
  const most = Math.min(one.length, other.length);
  let count = 0;
  while (count < most && one[count] === other[count]) count++;
  // Half a character is none: its other half may differ.
  return count && isHigh(one, count - 1) ? count - 1 : count;
}

function commonEnd(one, other) {
  const most = Math.min(one.length, other.length);
  let count = 0;
  while (count < most && one[one.length - 1 - count] === other[other.length - 1 - count]) count++;
  return count && isLow(one, one.length - count) ? count - 1 : count;
}

const isHigh = (text, index) => (text.charCodeAt(index) & 0xfc00) === 0xd800;
const isLow = (text, index) => (text.charCodeAt(index) & 0xfc00) === 0xdc00;

// Longest common subsequence, then short common stretches given up.
function aligned(a, b) {
  const width = b.length + 1;
  const best = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      best[i * width + j] = a[i] === b[j]
        ? best[(i + 1) * width + j + 1] + 1
        : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
    }
  }
  const left = [];
  const right = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    let same = "";
    while (i < a.length && j < b.length && a[i] === b[j]) {
      same += a[i];
      i++;
      j++;
    }
    if (same) {
      const chance = same.length < SHORTEST_EQUAL;
      left.push([same, chance]);
      right.push([same, chance]);
      continue;
    }
    if (j >= b.length || (i < a.length && best[(i + 1) * width + j] >= best[i * width + j + 1])) {
      left.push([a[i++], true]);
    } else right.push([b[j++], true]);
  }
  return [left, right];
}

function joined(runs) {
  const result = [];
  for (const [text, differs] of runs) {
    if (!text) continue;
    const last = result[result.length - 1];
    if (last && last[1] === differs) last[0] += text;
    else result.push([text, differs]);
  }
  return result;
}

function marked(runs, side) {
  const shown = document.createDocumentFragment();
  for (const [text, differs] of runs) {
    shown.append(differs ? el("mark", { class: side }, visible(text)) : visible(text));
  }
  return shown;
}
