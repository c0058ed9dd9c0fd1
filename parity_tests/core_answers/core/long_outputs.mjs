// The core's half of the subjects of long_outputs.py.
import { Buffer } from 'node:buffer';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { brief } from './brief.mjs';

const PATH_LENGTH = 100;
const SHOWN = 60;
const SESSION = '5e55/1011';

export async function shell_preview(response, load) {
  const { ToolOutputMaskingService } = await load('context/toolOutputMaskingService.js');
  return new ToolOutputMaskingService().formatShellPreview(response);
}

export async function cut([text, target], load) {
  const { truncateProportionally, TOOL_TRUNCATION_PREFIX } = await load('context/truncation.js');
  return truncateProportionally(text, target, TOOL_TRUNCATION_PREFIX).toWellFormed();
}

function mapped(value, change) {
  if (Array.isArray(value)) return value.map(change);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, change(each)]));
}

function whole(value) {
  if (value === null || typeof value !== 'object') return value;
  if ('repeat' in value) return value.repeat.repeat(value.times) + (value.end ?? '');
  return mapped(value, whole);
}

function unnumbered(text) {
  return text.replace(/(?:_1[0-9]{12})?_[0-9a-z]{6}\.txt/g, '_N.txt');
}

async function inFolder(play) {
  const top = mkdtempSync(path.join(tmpdir(), 'parity-outputs-'));
  const folder = path.join(top, 'p'.repeat(PATH_LENGTH - top.length - 1));
  const answer = await play(folder);
  const found = new Map();
  for (const entry of readdirSync(top, { recursive: true })) {
    const file = path.join(top, entry);
    if (statSync(file).isDirectory()) continue;
    const pair = [unnumbered(path.relative(folder, file)), readFileSync(file, 'utf8')];
    found.set(JSON.stringify(pair), pair);
  }
  rmSync(top, { recursive: true });
  const order = ([one, text], [other, another]) =>
    Buffer.compare(Buffer.from(one), Buffer.from(other)) ||
    Buffer.compare(Buffer.from(text), Buffer.from(another));
  answer.files = [...found.values()].sort(order);
  const out = JSON.stringify(answer).replaceAll(folder, '<TMP>');
  return brief(JSON.parse(unnumbered(out)), SHOWN);
}

/** The history as a request has it: no thoughts, and neighbours of one role together. */
function coalesced(live) {
  const shown = [];
  for (const content of live) {
    if (content.parts) {
      const parts = content.parts.filter((part) => !part.thought);
      if (parts.length === 0) continue;
      const last = shown.at(-1);
      if (last?.role === content.role) last.parts.push(...parts);
      else shown.push({ ...content, parts });
    } else shown.push(content);
  }
  return shown;
}

/** `{settings, coalesced, steps: [[gone, more], …]}` => the last history, and how many each step masked. */
export async function masked(input, load) {
  const { ToolOutputMaskingService } = await load('context/toolOutputMaskingService.js');
  const { protect, least, latest } = input.settings;
  const random = Math.random;
  Math.random = () => 0.123456789;
  const answer = await inFolder(async (folder) => {
    const config = {
      getToolOutputMaskingConfig: async () => ({
        protectionThresholdTokens: protect,
        minPrunableThresholdTokens: least,
        protectLatestTurn: latest,
      }),
      storage: { getProjectTempDir: () => folder },
      getSessionId: () => SESSION,
      getUsageStatisticsEnabled: () => false,
    };
    const service = new ToolOutputMaskingService();
    let live = [];
    let history = [];
    const counts = [];
    for (const [gone, more] of input.steps) {
      live = [...live.slice(0, live.length - gone), ...whole(more)];
      const shown = input.coalesced ? coalesced(live) : live;
      const { newHistory, maskedCount } = await service.mask(shown, config);
      counts.push(maskedCount);
      history = newHistory;
      if (maskedCount > 0) live = newHistory;
    }
    return { history, counts };
  });
  Math.random = random;
  return answer;
}

/** `{most, summed_up_from, prompt_id, tool, call, content, answer}` => the short content. */
export async function distilled(input, load) {
  const { ToolOutputDistillationService } = await load('context/toolDistillationService.js');
  return inFolder(async (folder) => {
    const config = {
      getToolMaxOutputTokens: () => input.most,
      getToolSummarizationThresholdTokens: () => input.summed_up_from,
      storage: { getProjectTempDir: () => folder },
      getUsageStatisticsEnabled: () => false,
      getSessionId: () => SESSION,
    };
    const asked = [];
    let waited = 0;
    const wait = globalThis.setTimeout;
    const client = {
      generateContent: async ({ model }, contents, signal, role) => {
        asked.push(model, contents[0].parts[0].text, role);
        if (input.answer === null) {
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
          throw new Error('aborted');
        }
        if (typeof input.answer === 'string') throw new Error(input.answer);
        return input.answer;
      },
    };
    globalThis.setTimeout = (action, delay) => {
      if (input.answer === null) {
        waited += delay;
        wait(action, 0);
      }
    };
    const service = new ToolOutputDistillationService(config, client, input.prompt_id);
    const short = await service.distill(input.tool, input.call, whole(input.content));
    globalThis.setTimeout = wait;
    return {
      content: short.truncatedContent,
      file: short.outputFile ?? null,
      asked,
      waited,
    };
  });
}
