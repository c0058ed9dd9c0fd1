// The core's half of the subjects of fetching.py: scripted answers of a model and of the network.
import { Buffer } from 'node:buffer';
import dns from 'node:dns/promises';
import { syncBuiltinESMExports } from 'node:module';

import { brief } from './brief.mjs';

const HOUR_MS = 3_600_000;
const HEAD_LIMIT_MS = 10_000;

let now = 1_767_225_600_000;

function body(value) {
  if (typeof value === 'string') return Buffer.from(value);
  if ('base64' in value) return Buffer.from(value.base64, 'base64');
  return Buffer.from(value.repeat.repeat(value.times) + (value.end ?? ''));
}

async function play(tool, params) {
  const signal = new AbortController().signal;
  let call;
  try {
    call = tool.build(params);
  } catch (error) {
    return { fault: error.message };
  }
  const { type, title, prompt, urls } = await call.shouldConfirmExecute(signal, 'ask_user');
  const { error, llmContent, returnDisplay } = await call.execute({ abortSignal: signal });
  return {
    rule: call.getPolicyUpdateOptions('proceed_always'),
    asked: [call.getDescription(), type, title, prompt, ...urls].join('\n'),
    llm: error ? null : llmContent,
    shown: returnDisplay,
    error: error ? [error.type, error.message] : null,
  };
}

/** `{direct, whole, retry, names, pages, answers, calls: [[wait, params], …]}` => all that shows. */
export async function fetched(input, load) {
  const { WebFetchTool } = await load('tools/web-fetch.js');
  const { coreEvents } = await load('utils/events.js');
  const { MessageBus } = await load('confirmation-bus/message-bus.js');
  const seen = [];
  const retries = [];
  const responses = [...(input.answers ?? [])];
  const left = structuredClone(input.pages ?? {});
  const config = {
    getApprovalMode: () => 'default',
    getDirectWebFetch: () => input.direct ?? false,
    isContextManagementEnabled: () => input.whole ?? false,
    getRetryFetchErrors: () => input.retry ?? false,
    getMaxAttempts: () => 10,
    getUsageStatisticsEnabled: () => false,
    getSessionId: () => 'session',
  };
  const geminiClient = {
    generateContent: async ({ model }, contents) => {
      seen.push(`${model}\n${contents[0].parts[0].text}`);
      const answer = responses.shift();
      if (typeof answer === 'string') throw new Error(answer);
      return answer;
    },
  };
  const kept = { fetch: globalThis.fetch, wait: globalThis.setTimeout, now: Date.now };
  const lookup = dns.lookup;
  dns.lookup = async (host) => {
    const found = input.names?.[host];
    if (!found) throw new Error('no such name');
    return found.map((address) => ({ address }));
  };
  syncBuiltinESMExports();
  globalThis.fetch = async (url, { headers }) => {
    const sent = Object.entries(headers).map(([key, each]) => `${key}: ${each}`);
    seen.push([url, ...sent].join('\n'));
    const pages = left[url] ?? ['no such page'];
    const page = pages.length > 1 ? pages.shift() : pages[0];
    if (typeof page === 'string') throw new Error(page);
    const { status, reason: statusText, headers: given } = page;
    return new Response(body(page.body), { status: status ?? 200, statusText, headers: given });
  };
  globalThis.setTimeout = (action, delay, ...rest) =>
    delay === HEAD_LIMIT_MS ? undefined : kept.wait(action, 0, ...rest);
  now += HOUR_MS;
  Date.now = () => now;
  const note = ({ attempt, maxAttempts, error, model }) =>
    retries.push([attempt, maxAttempts, error, model]);
  coreEvents.on('retry-attempt', note);
  const bus = new MessageBus({ check: async () => ({ decision: 'ask_user' }) }, false);
  const tool = new WebFetchTool({ config, geminiClient }, bus);
  const answers = [];
  for (const [wait, params] of input.calls) {
    now += wait;
    answers.push(await play(tool, params));
  }
  coreEvents.off('retry-attempt', note);
  globalThis.fetch = kept.fetch;
  globalThis.setTimeout = kept.wait;
  Date.now = kept.now;
  dns.lookup = lookup;
  syncBuiltinESMExports();
  return brief({ answers, seen, retries });
}
