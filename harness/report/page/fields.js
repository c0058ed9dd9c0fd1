// One moment of both runs, field by field: what is alike stands once, what differs side by side.

const ABSENT = "<absent>";
const LONG = 240;
const SHOWN_FIELDS = 6;
const SIDES = ["control", "candidate"];

const isTree = (value) => value !== null && typeof value === "object";

// `differences`: path to the divergence there, for the texts cut around the first difference and
// for the waiver.
function fieldList(row, differences, names) {
  const list = el("dl", { class: "fields" });
  const values = row.sides.map((side) => (side === null ? undefined : side.fields ?? undefined));
  addFields(list, "", values, { differences, names, whole: row.sides.includes(null) });
  foldMost(list);
  return list;
}

// What is alike helps little to see what is not, and neither does a tenth difference before the
// first is understood: both wait behind a button.
function foldMost(list) {
  const same = [...list.querySelectorAll(".same")];
  const more = [...list.querySelectorAll(".differs.field")].slice(SHOWN_FIELDS);
  if (more.length > 1) hideBehind(list, more, plural(more.length, "more field that differs",
    "more fields that differ"));
  if (same.length && same.length < list.children.length) {
    hideBehind(list, same, `${plural(same.length, "field")} alike on both sides`);
  }
}

function hideBehind(list, fields, words) {
  for (const each of fields) each.hidden = true;
  const button = el("button", { type: "button", class: "more" }, words);
  const place = el("div", { class: "field unfold" }, el("dt", {}), el("dd", {}, button));
  button.addEventListener("click", () => {
    for (const each of fields) each.hidden = false;
    place.remove();
    fields[0].tabIndex = -1; // the button that had the focus is gone
    fields[0].focus();
  });
  list.append(place);
}

function addFields(list, path, [control, candidate], context) {
  const divergence = context.differences.get(path);
  if (!divergence && bothTrees(control, candidate) && !alike(control, candidate)) {
    for (const key of keysOf(control, candidate)) {
      const below = stepInto(path, key, Array.isArray(control));
      addFields(list, below, [child(control, key), child(candidate, key)], context);
    }
    return;
  }
  if (context.whole && isTree(control ?? candidate) && path === "") {
    // Only one side has the item at all: its fields are listed, none of them differs by itself.
    const tree = control ?? candidate;
    for (const key of Object.keys(tree)) {
      const value = tree[key];
      list.append(field(key, control === undefined ? [undefined, value] : [value, undefined],
        null, context));
    }
    return;
  }
  list.append(field(path, [control, candidate], divergence, context));
}

function bothTrees(one, other) {
  return isTree(one) && isTree(other) && Array.isArray(one) === Array.isArray(other);
}

const child = (tree, key) => (Object.hasOwn(tree, key) ? tree[key] : undefined);

function keysOf(one, other) {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])];
}

function stepInto(path, key, isList) {
  if (isList) return `${path}[${key}]`;
  return path ? `${path}.${key}` : key;
}

function alike(one, other) {
  if (one === other) return true;
  if (!bothTrees(one, other)) return false;
  const keys = keysOf(one, other);
  return keys.every((key) => Object.hasOwn(one, key) && Object.hasOwn(other, key)
    && alike(one[key], other[key]));
}

function field(path, [control, candidate], divergence, { names, whole }) {
  if (divergence) {
    control = divergence.control === ABSENT ? undefined : divergence.control;
    candidate = divergence.candidate === ABSENT ? undefined : divergence.candidate;
  }
  const same = !divergence && !whole && alike(control, candidate);
  const name = el("dt", {}, pathText(path || "the whole item"));
  if (divergence) name.append(" ", waiverTag(divergence));
  if (same) {
    return el("div", { class: "field same" }, name,
      el("dd", { class: "both" }, heard("on both sides: "), ...folded(asText(control))));
  }
  const shown = sideTexts(control, candidate);
  return el("div", { class: "field differs" }, name,
    ...shown.map((content, side) => el("dd", { class: SIDES[side] },
      el("span", { class: "who" }, `${names[side]}: `), content)));
}

function waiverTag(divergence) {
  return divergence.waivedBy === null
    ? el("span", { class: "tag differs" }, "differs")
    : el("span", { class: "tag waived" }, "waived: ", visible(divergence.waivedBy));
}

function sideTexts(control, candidate) {
  if (control === undefined || candidate === undefined) {
    return [control, candidate].map((value) => (value === undefined
      ? el("em", { class: "nothing" }, "nothing")
      : el("code", {}, ...folded(asText(value)))));
  }
  // Of numbers, truth values and nulls no part is the same: they are another value.
  const texts = typeof control === "string" || isTree(control)
    ? textDiff(asText(control), asText(candidate))
    : [[[asText(control), true]], [[asText(candidate), true]]];
  return texts.map((runs, side) => el("code", {}, marked(runs, SIDES[side])));
}

function asText(value) {
  if (value === undefined) return "nothing";
  if (typeof value === "string") return value;
  return isTree(value) ? outline(value, "").join("\n") : JSON.stringify(value);
}

// A tree as indented lines: JSON without the lines that hold nothing but brackets.
function outline(tree, indent) {
  const isList = Array.isArray(tree);
  const keys = Object.keys(tree);
  if (!keys.length) return [`${indent}${isList ? "[]" : "{}"}`];
  return keys.flatMap((key) => {
    const value = tree[key];
    const name = isList ? "-" : `${key}:`;
    if (isTree(value) && Object.keys(value).length) {
      return [`${indent}${name}`, ...outline(value, `${indent}  `)];
    }
    return [`${indent}${name} ${JSON.stringify(value)}`];
  });
}

// A path may break where a step begins.
function pathText(path) {
  const shown = document.createDocumentFragment();
  for (const step of path.split(/(?=[.[])/)) shown.append(visible(step), el("wbr"));
  return shown;
}

// A long text that is no difference shows its beginning until it is asked for.
function folded(text) {
  if (text.length <= LONG) return [visible(text)];
  const rest = el("span", { hidden: true }, visible(text.slice(LONG)));
  const more = el("button", { type: "button", class: "more" },
    `… ${plural(text.length - LONG, "more character")}`);
  more.addEventListener("click", () => {
    rest.hidden = false;
    more.remove();
  });
  return [visible(text.slice(0, LONG)), rest, more];
}
