// The list: what is shown of it, and stepping through what is shown.

const cards = () => [...document.querySelectorAll("details.case")];
const shownCards = () => cards().filter((card) => !card.hidden);
const noiseShown = () => document.getElementById("show-noise")?.checked ?? false;

// `class:tools verdict:divergent words`: what has a colon must be one of the card's own values,
// the rest must stand somewhere in its text.
function matches(card, query) {
  return query.toLowerCase().split(/\s+/).filter(Boolean).every((word) => {
    const [, key, value] = /^(class|phase|verdict|id|group):(.+)$/.exec(word) ?? [];
    if (key) return (card.dataset[key] ?? "").toLowerCase().split(" ").includes(value);
    return wordsOf(card).includes(word);
  });
}

const haystacks = new WeakMap();

function wordsOf(card) {
  if (!haystacks.has(card)) {
    const text = `${card.querySelector("summary").textContent} ${card.dataset.words ?? ""} `
      + `${card.dataset.class} ${card.dataset.id} ${card.querySelector(".told-as").textContent}`;
    haystacks.set(card, text.toLowerCase());
  }
  return haystacks.get(card);
}

function showChosen() {
  const query = document.getElementById("search").value;
  const waived = document.getElementById("show-waived").checked;
  const noise = noiseShown();
  document.body.classList.toggle("hides-waived", !waived);
  let count = 0;
  for (const card of cards()) {
    const kept = (waived || card.dataset.kind !== "waived")
      && (noise || card.dataset.kind !== "noise") && matches(card, query);
    card.hidden = !kept;
    count += kept ? 1 : 0;
  }
  for (const part of document.querySelectorAll(".noise")) part.hidden = !noise;
  for (const item of document.querySelectorAll("#agreeing li")) {
    item.hidden = !query.toLowerCase().split(/\s+/).every((word) =>
      `${item.textContent} ${item.dataset.class} ${item.dataset.id}`.toLowerCase()
        .includes(word.replace(/^(class|phase|verdict|id):/, "")));
  }
  const total = cards().length;
  document.getElementById("shown").textContent = total === count
    ? plural(count, "case") : `${count} of ${plural(total, "case")}`;
  document.getElementById("none-shown").hidden = count > 0 || total === 0;
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
  const waived = document.getElementById("show-waived").checked;
  const rows = [...card.querySelectorAll(waived
    ? ".timeline > .differs, .timeline > .waived" : ".timeline > .differs")];
  if (!rows.length) return;
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const row = rows[(at + 1) % rows.length];
  const details = row.querySelector("details");
  details.open = true;
  details.querySelector("summary").focus({ preventScroll: true });
  row.scrollIntoView({ block: "center" });
}
