// The core's half of the subjects of remote.py.

export async function results(chunks, load) {
  const { A2AResultReassembler } = await load('agents/a2aUtils.js');
  const found = new A2AResultReassembler();
  return chunks.map((chunk) => {
    found.update(chunk);
    return [found.toString(), found.toActivityItems()];
  });
}

export async function ids(chunks, load) {
  const { extractIdsFromResponse } = await load('agents/a2aUtils.js');
  let context;
  let task;
  return chunks.map((chunk) => {
    const { contextId, taskId, clearTaskId } = extractIdsFromResponse(chunk);
    context = contextId || context;
    task = clearTaskId ? undefined : taskId || task;
    return [context ?? null, task ?? null];
  });
}

export async function value({ value: text, variables }, load) {
  const { resolveAuthValue } = await load('agents/auth-provider/value-resolver.js');
  const before = process.env;
  process.env = { PATH: before.PATH, ...variables };
  try {
    return { is: await resolveAuthValue(text) };
  } catch (error) {
    return { error: error.message.replace(/(exit code \d+)[^]*/, '$1') };
  } finally {
    process.env = before;
  }
}
