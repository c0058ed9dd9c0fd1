// The core's half of the subjects of pages.py.
import { createRequire } from 'node:module';
import path from 'node:path';

const packaged = createRequire(path.join(process.argv[2], 'package.json'));

export async function prompt(text, load) {
  const core = await load('tools/web-fetch.js');
  const { validUrls, errors } = core.parsePrompt(text);
  const urls = validUrls.map((url) => [url, core.normalizeUrl(url), core.convertGithubUrlToRaw(url)]);
  return { urls, errors };
}

export function html([text, base]) {
  const { convert } = packaged('html-to-text');
  const link = { selector: 'a', options: base ? { ignoreHref: false, baseUrl: base } : { ignoreHref: true } };
  const selectors = base ? [link] : [link, { selector: 'img', format: 'skip' }];
  return convert(text, { wordwrap: false, selectors });
}

export async function changes([old, proposed, final], load) {
  const { getDiffStat } = await load('tools/diffOptions.js');
  const { getDiffContextSnippet } = await load('tools/diff-utils.js');
  return [getDiffStat('f', old, proposed, final), getDiffContextSnippet(old, final)];
}

export async function shortened(file, load) {
  const { shortenPath } = await load('utils/paths.js');
  return shortenPath(file, 35);
}
