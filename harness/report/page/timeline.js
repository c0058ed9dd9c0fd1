// Both runs side by side, in the order in which things happened. Stretches in which nothing differs
// fold to one line: a reader looks for where the runs part, with a little of what came before.

const AROUND = 2; // equal rows shown before and after a difference
const FEWEST_FOLDED = 3;

const KINDS = {
  request: "request", answer: "response", retry: "retry", tool: "tool call", event: "event",
  side: "side event", memory: "history", recording: "recording", workspace: "workspace",
  child: "subagent",
  provider: "API rule", cost: "cost", note: "note",
};

function timeline(details, names) {
  const rows = details.rows.map(([kind, control, candidate, divergences], number) => ({
    kind, number, divergences, sides: [moment(control), moment(candidate)],
  }));
  const list = el("ol", { class: "timeline" });
  details.span = Math.max(0, ...rows.flatMap(({ sides }) => sides.map((side) => side?.at ?? 0)));
  const whole = !details.divergences.length;
  const shown = whole ? new Set(rows.keys()) : shownRows(rows, details.first);
  let equal = [];
  for (const row of rows) {
    if (shown.has(row.number)) {
      foldInto(list, equal, details, names);
      equal = [];
      list.append(rowElement(row, details, names));
    } else equal.push(row);
  }
  foldInto(list, equal, details, names);
  return list;
}

const moment = (kept) => (kept === null ? null
  : { index: kept[0], line: kept[1], fields: kept[2], at: kept[3] ?? null,
    picture: kept[4] ?? null });

function shownRows(rows, first) {
  const shown = new Set();
  for (const { number, divergences } of rows) {
    if (!divergences.length && number !== first) continue;
    for (let near = number - AROUND; near <= number + AROUND; near++) shown.add(near);
  }
  return shown;
}

function foldInto(list, rows, details, names) {
  if (rows.length < FEWEST_FOLDED) {
    list.append(...rows.map((row) => rowElement(row, details, names)));
    return;
  }
  const button = el("button", { type: "button" }, `${rows.length} steps equal on both sides`);
  const item = el("li", { class: "alike" }, button);
  button.addEventListener("click", () => {
    const made = rows.map((row) => rowElement(row, details, names));
    item.replaceWith(...made);
    const target = made[0];
    target.tabIndex = -1; // the button that had the focus is gone
    target.focus();
  });
  list.append(item);
}

function rowElement(row, details, names) {
  const found = row.divergences.map((index) => details.divergences[index]).filter(Boolean);
  const open = found.filter((each) => each.waivedBy === null);
  const state = open.length ? "differs" : found.length ? "waived" : "same";
  const item = el("li", { class: `row ${state}`, "data-row": row.number });
  const head = [
    el("span", { class: "kind" }, el("span", { class: `dot ${row.kind}`, "aria-hidden": "true" }),
      KINDS[row.kind] ?? row.kind, state === "same" ? null : stateTag(state, open, found),
      timeOf(row, details.span, names)),
    ...lines(row, state, names),
  ];
  if (!found.length) {
    item.append(el("div", { class: "head" }, ...head));
    return item;
  }
  const fold = el("details", { class: "fold" }, el("summary", { class: "head" }, ...head));
  fold.addEventListener("toggle", () => fillRow(fold, row, found, names));
  item.append(fold);
  if (row.number === details.first) {
    item.id = `${details.id}-first`;
    item.classList.add("first");
    fold.open = true;
    fillRow(fold, row, found, names);
  }
  return item;
}

function stateTag(state, open, found) {
  return state === "differs"
    ? el("span", { class: "tag differs" }, plural(open.length, "difference"))
    : el("span", { class: "tag waived" }, `${found.length} waived`);
}

function lines(row, state, names) {
  const [control, candidate] = row.sides;
  if (state === "same" && control && candidate && control.line === candidate.line) {
    return [
      el("span", { class: "line both" }, heard("on both sides: "), visible(control.line)),
      el("span", { class: "line both again", "aria-hidden": "true" }, visible(candidate.line)),
    ];
  }
  const texts = control && candidate
    ? textDiff(control.line, candidate.line).map((runs, side) => marked(runs, SIDES[side]))
    : row.sides.map((side) => (side === null
      ? el("em", { class: "nothing" }, "nothing here") : visible(side.line)));
  return texts.map((content, side) => el("span", { class: `line ${SIDES[side]}` },
    el("span", { class: "who" }, `${names[side]}: `), content));
}

function fillRow(fold, row, found, names) {
  if (!fold.open || fold.dataset.filled) return;
  fold.dataset.filled = "yes";
  const differences = new Map(found.map((each) => [each.path, each]));
  const isWhole = row.sides.includes(null);
  if (isWhole) differences.delete("");
  const drawn = pictures(row, names);
  if (drawn) fold.append(drawn);
  fold.append(fieldList(row, differences, names));
  for (const each of found) {
    if (each.kind === "changed" || (isWhole && each.path === "")) continue;
    fold.append(el("p", { class: "aside" }, visible(`${each.kind}: ${each.place}`)));
  }
}

// What each side showed, as an image: scripts and addresses in it have no effect.
function pictures(row, names) {
  if (row.sides.every((side) => !side?.picture)) return null;
  return el("div", { class: "pictures" }, ...row.sides.map((side, number) => el("figure", {},
    el("figcaption", {}, names[number]), side?.picture ? el("img", {
      alt: `The screen of ${names[number]}; its text is below.`,
      src: `data:image/svg+xml,${encodeURIComponent(side.picture)}`,
    }) : el("em", { class: "nothing" }, "nothing here"))));
}

// When it happened, in virtual time from the run's begin, in words and on an axis as long as the
// run. What is looked at when the run is over has no time.
function timeOf(row, span, names) {
  const times = row.sides.map((side) => side?.at ?? null);
  if (times.every((at) => at === null)) return null;
  const [one, other] = times;
  const same = one === null || other === null || one === other;
  const words = same ? duration(one ?? other)
    : `${names[0]} ${duration(one)}, ${names[1]} ${duration(other)}`;
  return el("span", { class: "at" }, heard("after "), words, span ? axis(times, span) : null);
}

function axis(times, span) {
  const drawn = svg("svg", { class: "axis", viewBox: "0 0 100 6", preserveAspectRatio: "none",
    "aria-hidden": "true", focusable: "false" }, svg("rect", { class: "ground", y: 2.5, width: 100,
    height: 1 }));
  times.forEach((at, side) => {
    if (at === null) return;
    drawn.append(svg("rect", { class: SIDES[side], x: (97 * at) / span, y: side * 3, width: 3,
      height: 3 }));
  });
  return drawn;
}

function svg(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function duration(ms) {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(3)} s`;
  return `${Math.floor(ms / 60_000)} min ${((ms % 60_000) / 1000).toFixed(3)} s`;
}
