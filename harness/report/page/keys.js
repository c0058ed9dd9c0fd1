// One letter each, and none while somebody types: a reader may keep both hands where they are.

const KEYS = {
  n: () => stepFinding(1),
  j: () => stepFinding(1),
  p: () => stepFinding(-1),
  k: () => stepFinding(-1),
  d: stepDifference,
  c: () => (current() ?? shownCards()[0])?.querySelector("button[data-copies]")?.click(),
  w: () => document.getElementById("show-waived")?.click(),
  o: () => document.getElementById("show-noise")?.click(),
  "/": () => document.getElementById("search")?.focus(),
  "?": () => document.getElementById("help").showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.getElementById("help").open) return; // the dialog closes itself on Escape
  const search = document.getElementById("search");
  if (event.target === search) {
    if (event.key === "Escape") {
      search.value = "";
      showChosen();
      search.blur();
    }
    return;
  }
  const act = Object.hasOwn(KEYS, event.key) ? KEYS[event.key] : null;
  if (!act) return;
  event.preventDefault();
  act();
});
