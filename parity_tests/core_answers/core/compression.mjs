// The core's half of the subjects of compression.py.

export async function split({ contents, fraction }, load) {
  const { findCompressSplitPoint } = await load('context/chatCompressionService.js');
  return findCompressSplitPoint(contents, fraction);
}
