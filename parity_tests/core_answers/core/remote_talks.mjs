// The core's half of the subjects of remote_talks.py.
import http from 'node:http';

const HEADERS = ['content-type', 'authorization', 'x-api-key', 'x-own'];
// What the reader of JSON finds wrong is said in its own words, and gRPC is not supported.
const TRANSPORTS = 'JSONRPC,HTTP+JSON,GRPC';
const shortened = (text) =>
  text.replace(/(JSON for agent '[^']*': )[^]*/, '$1').replace(TRANSPORTS, 'HTTP+JSON,JSONRPC');

async function talk(asked, load) {
  const { A2AClientManager } = await load('agents/a2a-client-manager.js');
  const { A2AAuthProviderFactory } = await load('agents/auth-provider/factory.js');
  const { A2AResultReassembler, extractIdsFromResponse } = await load('agents/a2aUtils.js');
  const { getAgentCardLoadOptions, getRemoteAgentTargetUrl } = await load('agents/types.js');
  process.env.KEY = 'from-env';
  const requests = [];
  const answers = [...asked.answers];
  globalThis.fetch = async (url, init = {}) => {
    const headers = new Headers(init.headers);
    const body = init.body ? JSON.parse(init.body) : {};
    const message = (body.params ?? body).message ?? body.request ?? {};
    requests.push([
      `${init.method ?? 'GET'} ${new URL(url).href}`,
      Object.fromEntries(HEADERS.filter((key) => headers.get(key)).map((k) => [k, headers.get(k)])),
      body.method ?? null,
      [message.contextId || null, message.taskId || null],
    ]);
    const answer = answers.shift();
    if (answer === undefined) throw new TypeError('fetch failed');
    const status = answer.status ?? 200;
    const text = answer.body.replaceAll('"$ID"', JSON.stringify(body.id ?? null));
    const response = new Response([204, 304].includes(status) ? null : text, {
      status,
      statusText: http.STATUS_CODES[status],
    });
    // A response of text has a content type, which that of a server without one has not.
    response.headers.delete('content-type');
    for (const [key, value] of Object.entries(answer.headers ?? {})) response.headers.set(key, value);
    return response;
  };
  const { card } = asked;
  const definition = {
    kind: 'remote',
    name: 'far',
    agentCardUrl: asked.url,
    agentCardJson: card === undefined || typeof card === 'string' ? card : JSON.stringify(card),
  };
  const manager = new A2AClientManager({ getProxy: () => undefined });
  try {
    const handler = asked.auth
      ? await A2AAuthProviderFactory.create({
          authConfig: asked.auth,
          agentName: 'far',
          targetUrl: getRemoteAgentTargetUrl(definition),
          agentCardUrl: asked.url,
        })
      : undefined;
    await manager.loadAgent('far', getAgentCardLoadOptions(definition), handler);
  } catch (error) {
    return { requests, load: shortened(error.userMessage ?? error.message) };
  }
  const said = [];
  let context;
  let task;
  for (const text of asked.messages) {
    const found = new A2AResultReassembler();
    let chunks = 0;
    let failure = null;
    try {
      const options = { contextId: context, taskId: task };
      for await (const chunk of manager.sendMessageStream('far', text, options)) {
        const { contextId, taskId, clearTaskId } = extractIdsFromResponse(chunk);
        context = contextId || context;
        task = clearTaskId ? undefined : taskId || task;
        found.update(chunk);
        chunks += 1;
      }
    } catch (error) {
      failure = error.message;
    }
    const now = [context || null, task || null];
    said.push([chunks, found.toString(), found.toActivityItems(), now, failure]);
  }
  return { requests, said };
}

export const loading = talk;
export const answers = talk;
