// The list: what is shown of it, and stepping through what is shown.

const cards = () => [...document.querySelectorAll("details.case")];
const shownCards = () => cards().filter((card) => !card.hidden);

// `class:tools verdict:divergent words`: what has a colon must be one of the card's own values,
// the rest must stand somewhere in its text.
function matches(item, query) {
  return query.toLowerCase().split(/\s+/).filter(Boolean).every((word) => {
    const [, key, value] = /^(class|phase|verdict|id|group):(.+)$/.exec(word) ?? [];
    if (key) return (item.dataset[key] ?? "").toLowerCase().split(" ").includes(value);
    return wordsOf(item).includes(word);
  });
}

const haystacks = new WeakMap();

function wordsOf(item) {
  if (!haystacks.has(item)) {
    const shown = ["summary", ".explained"].map((part) => item.querySelector(part)?.textContent ?? "");
    const { words = "", class: classes, id } = item.dataset;
    haystacks.set(item, [item.matches("tr") ? item.textContent : "", ...shown, words, classes, id]
      .join(" ").toLowerCase());
  }
  return haystacks.get(item);
}

const isChecked = (id) => document.getElementById(id)?.checked ?? false;
const noiseShown = () => isChecked("show-noise");
const waivedShown = () => isChecked("show-waived");

function showChosen() {
  const query = document.getElementById("search").value;
  const [waived, noise] = [waivedShown(), noiseShown()];
  document.body.classList.toggle("hides-waived", !waived);
  for (const card of cards()) {
    card.hidden = (card.dataset.kind === "waived" && !waived)
      || (card.dataset.kind === "noise" && !noise) || !matches(card, query);
  }
  for (const part of document.querySelectorAll(".noise")) part.hidden = !noise;
  const count = shownCards().length;
  const total = cards().length;
  const alike = showAgreeing(query, count);
  const parts = total ? [count === total ? plural(total, "case") : `${count} of ${total} cases`] : [];
  if (query && alike) parts.push(`${alike} at parity`);
  document.getElementById("shown").textContent = parts.join(", ");
  document.getElementById("none-shown").hidden = !query || count + alike > 0;
}

// How many of the cases at parity fit. They come to light by themselves where nothing else fits.
function showAgreeing(query, found) {
  const list = document.getElementById("all-cases");
  if (!list) return 0;
  let count = 0;
  for (const row of caseRows()) {
    row.hidden = !matches(row, query);
    const below = document.getElementById(`${row.id}-details`);
    if (below) below.hidden = row.hidden;
    // A finding has a card, which was counted already.
    count += row.hidden || row.querySelector("a[href]") ? 0 : 1;
  }
  if (query && count && !found) list.open = true;
  return count;
}

function stepFinding(by) {
  const all = shownCards();
  if (!all.length) return;
  const now = all.indexOf(current());
  // Nothing visited yet: the first one, whichever way.
  const next = now < 0 ? 0 : Math.min(Math.max(now + by, 0), all.length - 1);
  if (now >= 0 && now !== next) all[now].open = false;
  goTo(all[next]);
}

const current = () => document.querySelector("details.case[data-current]");

function mark(card) {
  for (const other of document.querySelectorAll("details.case[data-current]")) {
    if (other !== card) delete other.dataset.current;
  }
  card.dataset.current = "yes";
}

// To a finding by its anchor, even where the search or a toggle hides it.
function goToNamed(anchor) {
  const card = document.getElementById(anchor);
  if (!card?.matches("details.case")) return;
  if (card.hidden) {
    document.getElementById("search").value = "";
    for (const kind of ["waived", "noise"]) {
      if (card.dataset.kind === kind) document.getElementById(`show-${kind}`).checked = true;
    }
    showChosen();
  }
  goTo(card);
}

async function goTo(card) {
  mark(card);
  card.open = true;
  await fillCase(card);
  const summary = card.querySelector("summary");
  summary.focus({ preventScroll: true });
  card.scrollIntoView({ block: "start" });
}

// The next row that differs, of the case that the reader is at.
function stepDifference() {
  const card = current() ?? shownCards()[0];
  if (!card) return;
  const rows = [...card.querySelectorAll(waivedShown()
    ? ".timeline > .differs, .timeline > .waived" : ".timeline > .differs")];
  if (!rows.length) return;
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  // From outside, the first cause; from one of them, the next.
  const first = rows.findIndex((row) => row.classList.contains("first"));
  const row = rows[at < 0 ? Math.max(first, 0) : (at + 1) % rows.length];
  const details = row.querySelector("details");
  details.open = true;
  details.querySelector("summary").focus({ preventScroll: true });
  row.scrollIntoView({ block: "center" });
}
