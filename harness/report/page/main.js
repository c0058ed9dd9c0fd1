// Puts the parts together. The page without this shows verdict, findings and tables; what is
// compressed and what moves takes script.

function prepare() {
  document.documentElement.classList.add("scripted");
  for (const card of cards()) {
    card.addEventListener("toggle", () => {
      if (!card.open) return;
      fillCase(card);
    });
    card.querySelector("summary").addEventListener("click", () => mark(card));
  }
  for (const button of document.querySelectorAll("[data-opens]")) {
    button.addEventListener("click", () => document.getElementById(button.dataset.opens)
      .showModal());
  }
  document.addEventListener("click", (event) => {
    const step = event.target.closest("button[data-step]");
    if (step) {
      mark(step.closest("details.case"));
      stepDifference();
    }
    const move = event.target.closest("button[data-move]");
    if (move) stepFinding(Number(move.dataset.move));
    const query = event.target.closest("button[data-query]");
    if (query) searchFor(query.dataset.query, "waived" in query.dataset);
    if (query && "opensFirst" in query.dataset && shownCards().length) goTo(shownCards()[0]);
    const link = event.target.closest('a[href^="#case-"]');
    if (link) {
      event.preventDefault();
      goToNamed(link.hash.slice(1));
    }
  });
  prepareRows();
  const search = document.getElementById("search");
  if (!search) return;
  search.addEventListener("input", showChosen);
  search.form.addEventListener("submit", (event) => event.preventDefault());
  for (const toggle of document.querySelectorAll(".toggle input")) {
    toggle.addEventListener("change", showChosen);
  }
  showChosen();
  goToNamed(location.hash.slice(1));
  for (const card of cards()) if (card.open) fillCase(card);
}

function searchFor(query, amongWaived) {
  const search = document.getElementById("search");
  const waived = document.getElementById("show-waived");
  if (amongWaived && waived) waived.checked = true;
  search.value = query;
  showChosen();
  search.focus({ preventScroll: true });
  document.getElementById("findings").scrollIntoView();
}

prepare();
