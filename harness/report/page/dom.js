// Elements, and text that shows what it holds. Nothing here or elsewhere ever parses markup: what a
// cassette or a model said is put in as text only.

const BARE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;

function el(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// Characters that would turn text around, hide it or drive a terminal, as escapes in boxes of their
// own; line ends and tabs stay what they are.
function visible(text) {
  const shown = document.createDocumentFragment();
  let from = 0;
  for (const match of text.matchAll(BARE)) {
    if (match[0] === "\n" || match[0] === "\t") continue;
    if (match.index > from) shown.append(text.slice(from, match.index));
    shown.append(el("span", { class: "escape" }, escaped(match[0])));
    from = match.index + match[0].length;
  }
  if (from < text.length) shown.append(text.slice(from));
  return shown;
}

function escaped(character) {
  const code = character.codePointAt(0);
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, "0")}`;
  return `\\u{${code.toString(16)}}`;
}

function plural(count, one, many = `${one}s`) {
  return `${count} ${count === 1 ? one : many}`;
}

function heard(text) {
  return el("span", { class: "heard" }, text);
}
