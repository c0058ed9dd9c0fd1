// The core's half of the subjects of code_assist.py.
const plain = (value) => JSON.parse(JSON.stringify(value));

export async function request({ model, contents, config, project }, load) {
  const { toGenerateContentRequest } = await load('code_assist/converter.js');
  const asked = { model, contents, config };
  return plain(toGenerateContentRequest(asked, 'p', project ?? undefined, 's'));
}

export async function count_request({ model, contents }, load) {
  const { toCountTokenRequest } = await load('code_assist/converter.js');
  return plain(toCountTokenRequest({ model, contents }));
}

export async function generated(answer, load) {
  const { fromGenerateContentResponse } = await load('code_assist/converter.js');
  return plain({ ...fromGenerateContentResponse(answer) });
}

export async function counted(answer, load) {
  const { fromCountTokenResponse } = await load('code_assist/converter.js');
  return fromCountTokenResponse(answer);
}

/** A client whose answers are given in order; `calls` has what it was asked. */
function scripted(answers, calls) {
  const left = [...answers];
  return {
    request: async ({ url, body }) => {
      const asked = new URL(url).pathname.split(/[/:]/).filter(Boolean).slice(1).join('/');
      calls.push(body === undefined ? [asked] : [asked, JSON.parse(body)]);
      const answer = left.shift();
      if (answer?.status === undefined) return { data: answer };
      const failed = new Error(`HTTP ${answer.status}`);
      failed.response = { status: answer.status, data: answer.data };
      throw failed;
    },
  };
}

export async function set_up({ project, answers, intents }, load) {
  const { setupUser } = await load('code_assist/setup.js');
  const calls = [];
  const questions = [];
  const wanted = [...intents];
  const config = new Proxy(
    {
      getValidationHandler: () =>
        wanted.length === 0
          ? undefined
          : async (link, description) => {
              questions.push([link, description ?? null]);
              return wanted.shift();
            },
    },
    { get: (own, key) => own[key] ?? (() => undefined) },
  );
  const env = process.env;
  const wait = globalThis.setTimeout;
  process.env = project === null ? {} : { GOOGLE_CLOUD_PROJECT: project };
  globalThis.setTimeout = (after) => wait(after, 0);
  let result;
  try {
    const { projectId, userTier, userTierName } = await setupUser(
      scripted(answers, calls),
      config,
    );
    result = { projectId, userTier, userTierName: userTierName || null };
  } catch (error) {
    const own = ['ChangeAuthRequestedError', 'Error'].includes(error.constructor.name);
    result = own ? { refused: true } : { refused: error.message };
  } finally {
    process.env = env;
    globalThis.setTimeout = wait;
  }
  return { calls, questions, result };
}

export async function events(pieces, load) {
  const { CodeAssistServer } = await load('code_assist/server.js');
  const client = { request: async () => ({ data: pieces.map((each) => Buffer.from(each)) }) };
  const server = new CodeAssistServer(client, 'p', {}, 's');
  const found = [];
  for await (const each of await server.requestStreamingPost('m', {})) found.push(each);
  return found.filter((each) => each?.constructor === Object);
}
