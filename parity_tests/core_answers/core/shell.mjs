// The core's half of the subjects of shell.py.

export async function parsed(line, load) {
  const core = await load('utils/shell-utils.js');
  await core.initializeShellParsers();
  const read = core.parseBashCommandDetails(line);
  if (read === null) return null;
  const details = read.hasError
    ? []
    : read.details.map((each) => [
        each.name,
        core.REDIRECTION_NAMES.has(each.name) ? null : each.text,
        [...line.slice(0, each.startIndex)].length,
      ]);
  return {
    error: read.hasError,
    details,
    roots: core.getCommandRoots(line),
    redirected: !read.hasError && core.hasRedirection(line),
  };
}

export async function texts(line, load) {
  const core = await load('utils/shell-utils.js');
  return [core.stripShellWrapper(line), core.detectCommandSubstitution(line)];
}
