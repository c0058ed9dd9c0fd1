// Takes the edits of files after a message back, as the command line tool around the core does.
//
// Source: gemini-cli `packages/cli/src/ui/utils/rewindFileOps.ts`, which the core does not contain.
import fs from 'node:fs';

/** `report(severity, message)` receives what could not be taken back. */
export function revertEdits({ core, diff }, messages, messageId, report) {
  const place = messages.findIndex(({ id }) => id === messageId);
  if (place < 0) return;
  const edits = messages
    .slice(place + 1)
    .flatMap(({ type, toolCalls }) => (type === 'gemini' ? (toolCalls ?? []) : []))
    .map(({ resultDisplay }) => core.getFileDiffFromResultDisplay(resultDisplay))
    .filter(Boolean);
  for (const edit of edits.reverse()) {
    const current = read(edit, report);
    if (current === undefined) return;
    try {
      takeBack(diff, edit, current, report);
    } catch {
      report('error', `An unexpected error occurred while reverting ${edit.fileName}.`);
    }
  }
}

/** The file's text; null when it is gone, undefined when it cannot be read. */
function read({ filePath, fileName }, report) {
  try {
    return fs.readFileSync(filePath, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    report('error', `Error reading ${fileName} during revert: ${error.message}`);
    return undefined;
  }
}

function takeBack(diff, edit, current, report) {
  const { filePath, fileName, newContent, isNewFile } = edit;
  const before = edit.originalContent ?? '';
  if (current === null) {
    report(
      'warning',
      `Cannot revert changes for ${fileName} because it was not found on disk. This is expected ` +
        'if a file created by the agent was deleted before rewind',
    );
  } else if (current === newContent) {
    if (isNewFile) fs.unlinkSync(filePath);
    else fs.writeFileSync(filePath, before);
  } else {
    const undone = diff.applyPatch(current, diff.createPatch(fileName, newContent, before));
    if (undone === false) {
      report(
        'warning',
        `Smart revert for ${fileName} failed. The file may have been modified in a way that ` +
          'conflicts with the undo operation.',
      );
    } else if (undone === '' && isNewFile) fs.unlinkSync(filePath);
    else fs.writeFileSync(filePath, undone);
  }
}
