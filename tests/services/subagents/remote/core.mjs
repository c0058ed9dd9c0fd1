// Asks agents through the published core: `node core.mjs <package> <jobs as JSON>`, one line each.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, jobs] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(join(folder, 'dist', 'src', 'agents', path)).href);
const { RemoteAgentInvocation } = await load('remote-invocation.js');
const { RemoteSessionInvocation } = await load('remote-session-invocation.js');
const { A2AClientManager } = await load('a2a-client-manager.js');

for (const { card, session, query, abortAt } of JSON.parse(jobs)) {
  const config = { getProxy: () => undefined };
  const manager = new A2AClientManager(config);
  config.getA2AClientManager = () => manager;
  const definition = { kind: 'remote', name: 'far', description: '', ...card };
  const Kind = session ? RemoteSessionInvocation : RemoteAgentInvocation;
  Kind.sessionState.clear();
  const call = new Kind(definition, { config }, { query }, {});
  const abort = new AbortController();
  const shown = [];
  const updateOutput = (progress) => {
    shown.push(progress);
    if (abortAt !== undefined && progress.result === abortAt) abort.abort();
  };
  const { llmContent, returnDisplay } = await call.execute({
    abortSignal: abort.signal,
    updateOutput,
  });
  process.stdout.write(`${JSON.stringify({ llmContent, returnDisplay, shown })}\n`);
}
process.exit(0);
