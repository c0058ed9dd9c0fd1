// What a case shows when it is opened: built then, never before.

async function fillCase(card) {
  if (card.dataset.filled) return;
  card.dataset.filled = "yes";
  const place = card.querySelector(".details");
  const kept = document.getElementById(`${card.id}-data`);
  try {
    const details = await unpacked(JSON.parse(kept.textContent));
    place.replaceChildren(...caseParts(card, { ...details, id: card.id }));
    card.dataset.state = "ready";
  } catch (error) {
    place.replaceChildren(el("p", { class: "problem" },
      visible(`The details of this case cannot be shown: ${error.message}`)));
    card.dataset.state = "broken";
  }
}

function caseParts(card, details) {
  const names = [document.body.dataset.control, document.body.dataset.candidate];
  return [
    details.note ? el("p", { class: "aside" }, visible(details.note)) : null,
    details.rows.length ? bothRuns(details, names) : null,
    details.divergences.length ? allDifferences(details, names) : null,
    details.noise.length ? noisePart(details) : null,
    cassettePart(details),
  ].filter(Boolean);
}

function bothRuns(details, names) {
  const section = el("section", { class: "runs", "aria-label": "Both runs side by side" });
  const next = el("button", { type: "button", class: "step", "data-step": "difference" },
    "Next difference ", el("kbd", {}, "d"));
  section.append(el("div", { class: "bar" }, el("h4", {}, "Both runs side by side"),
    details.divergences.length ? next : null));
  if (details.leftOut) {
    section.append(el("p", { class: "aside" },
      `${plural(details.leftOut, "moment")} far from any difference had no room here.`));
  }
  section.append(
    el("div", { class: "heads", "aria-hidden": "true" }, el("span", {}, "step, virtual time"),
      ...names.map((name, side) => el("span", { class: SIDES[side] }, visible(name)))),
    timeline(details, names));
  return section;
}

function allDifferences(details, names) {
  const count = plural(details.divergences.length, "difference");
  // Without timelines this is all there is.
  return fold(`All ${count} as they were found`, !details.rows.length, () => [
    el("ol", { class: "differences" },
      ...details.divergences.map((each) => differenceItem(each, names))),
  ]);
}

function differenceItem(each, names) {
  const fields = el("dl", { class: "fields" });
  fields.append(field(each.path, [undefined, undefined], each, { names, whole: false }));
  return el("li", { class: each.waivedBy === null ? "row differs" : "row waived" },
    el("p", { class: "place" }, el("code", {}, visible(each.place)), ` ${each.kind} `,
      waiverTag(each)),
    fields);
}

function noisePart(details) {
  const part = fold("Noise: where runs of the control differ", true, () => [
    el("ul", {}, ...details.noise.map((each) => el("li", {},
      el("code", {}, visible(each.place)),
      each.hides ? `: hides ${plural(each.hides, "difference")}` : ""))),
  ]);
  part.classList.add("noise");
  part.hidden = !noiseShown();
  return part;
}

function cassettePart(details) {
  if (details.cassette === null) return null;
  const title = details.cassetteFile ? `The cassette: ${details.cassetteFile}` : "The cassette";
  return fold(title, false, () => [
    el("pre", { tabindex: "0", "aria-label": "The cassette's text" },
      el("code", {}, visible(details.cassette))),
    details.cassetteCut
      ? el("p", { class: "aside" }, "Cut here; the file contains the rest.") : null,
  ].filter(Boolean));
}

// What is folded away is made when it is unfolded: a case has to open at once.
function fold(title, open, content) {
  const made = el("details", { class: "part" }, el("summary", {}, visible(title)));
  made.addEventListener("toggle", () => {
    if (made.open && made.children.length === 1) made.append(...content());
  });
  if (open) made.append(...content());
  made.open = open;
  return made;
}
