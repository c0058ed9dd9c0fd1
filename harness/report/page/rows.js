// The list of all cases: sorted by a column, and those at parity opened in their place.

const caseRows = () => [...document.querySelectorAll("table.cases > tbody > tr[data-name]")];

function prepareRows() {
  document.addEventListener("click", (event) => {
    const sorts = event.target.closest("button[data-sorts]");
    if (sorts) sortRows(sorts);
    const unfolds = event.target.closest("button[data-unfolds]");
    if (unfolds) unfoldRow(unfolds);
  });
}

// By a number the largest first, by a text in its order; the same column again turns it round.
function sortRows(button) {
  const key = button.dataset.sorts;
  const head = button.closest("th");
  const isNumber = key === "took" || key === "virtual";
  const before = head.getAttribute("aria-sort");
  const usual = isNumber ? "descending" : "ascending";
  const other = isNumber ? "ascending" : "descending";
  const order = before === usual ? other : usual;
  for (const each of head.parentElement.children) each.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", order);
  const sign = order === "ascending" ? 1 : -1;
  const compare = isNumber
    ? (one, two) => Number(one.dataset[key]) - Number(two.dataset[key])
    : (one, two) => one.dataset[key].localeCompare(two.dataset[key]);
  const body = button.closest("table").tBodies[0];
  for (const row of caseRows().sort((one, two) => sign * compare(one, two))) {
    const below = document.getElementById(`${row.id}-details`);
    body.append(row, ...(below ? [below] : []));
  }
}

async function unfoldRow(button) {
  const row = document.getElementById(button.dataset.unfolds);
  const known = document.getElementById(`${row.id}-details`);
  const open = button.getAttribute("aria-expanded") !== "true";
  button.setAttribute("aria-expanded", String(open));
  if (known) {
    known.hidden = !open;
    return;
  }
  const place = el("td", { colspan: row.children.length });
  const below = el("tr", { id: `${row.id}-details`, class: "unfolded" }, place);
  row.after(below);
  try {
    const kept = document.getElementById(`${row.id}-data`);
    const details = await unpacked(JSON.parse(kept.textContent));
    place.append(el("div", { class: "details" }, ...agreeingParts(row.id, details)));
    below.dataset.state = "ready";
  } catch (error) {
    place.append(el("p", { class: "problem" },
      visible(`The details of this case cannot be shown: ${error.message}`)));
    below.dataset.state = "broken";
  }
}

function agreeingParts(id, details) {
  const names = [document.body.dataset.control, document.body.dataset.candidate];
  return [
    details.note ? el("p", {}, visible(details.note)) : null,
    el("p", { class: "aside" }, details.cassetteFile
      ? visible(`Cassette: ${details.cassetteFile}`) : "The file of the cassette is not known.", ),
    details.rows.length ? bothRuns({ ...details, id }, names)
      : el("p", { class: "aside" }, "This journal does not contain the steps of each side."),
    el("p", { class: "aside" }, "Reproduce: ", el("code", {}, visible(details.command))),
  ].filter(Boolean);
}
