// The core's half of the subjects of web.py.

export async function prompt(text, load) {
  const core = await load('tools/web-fetch.js');
  const { validUrls, errors } = core.parsePrompt(text);
  const pages = validUrls.map((each) => [core.normalizeUrl(each), core.convertGithubUrlToRaw(each)]);
  return { validUrls, errors, pages };
}

export async function url(text) {
  try {
    const { href, protocol, hostname } = new URL(text);
    return /^https?:$/.test(protocol) ? [href, hostname] : 'other';
  } catch {
    return 'invalid';
  }
}

export async function address(host, load) {
  const { isAddressPrivate } = await load('utils/fetch.js');
  return isAddressPrivate(host);
}

export async function html([text, base], load) {
  const { convert } = await load('../../../../html-to-text/lib/html-to-text.mjs');
  const links = base === null
    ? [{ selector: 'a', options: { ignoreHref: true } }, { selector: 'img', format: 'skip' }]
    : [{ selector: 'a', options: { ignoreHref: false, baseUrl: base } }];
  return convert(text, { wordwrap: false, selectors: links });
}
