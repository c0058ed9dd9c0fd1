// The clipboard is refused to many a file from disk. Then the text is selected, which is the next
// best thing: Ctrl+C is all that is left to do.

async function copyText(button) {
  const source = document.getElementById(button.dataset.copies);
  const status = button.parentElement.querySelector(".copy-status");
  try {
    await navigator.clipboard.writeText(source.textContent);
    status.textContent = "Copied.";
  } catch {
    // Not there, not allowed, or the page is not in front: whatever it was, this works.
    const range = document.createRange();
    range.selectNodeContents(source);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    status.textContent = "Selected: press Ctrl+C to copy.";
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-copies]");
  if (button) copyText(button);
});
