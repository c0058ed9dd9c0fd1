// The core's half of the subjects of web.py.

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
