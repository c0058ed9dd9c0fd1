// The core's half of the subjects of texts.py.

export async function truncated([text, limit, suffix], load) {
  const { truncateString } = await load('utils/textUtils.js');
  return truncateString(text, limit, suffix);
}

export async function plain(text, load) {
  const { detectLineEnding, wrapUntrusted } = await load('utils/textUtils.js');
  const { detectOmissionPlaceholders } = await load('tools/omissionPlaceholderDetector.js');
  const { default: stripAnsi } = await load('../../../../strip-ansi/index.js');
  return [
    detectLineEnding(text),
    wrapUntrusted(text),
    stripAnsi(text),
    detectOmissionPlaceholders(text),
  ];
}

export async function fixed([value, digits]) {
  return value.toFixed(digits);
}

export async function fault([schema, value], load) {
  const { SchemaValidator } = await load('utils/schemaValidator.js');
  return SchemaValidator.validate(schema, value);
}

export async function matches([pattern, ignoreCase, texts]) {
  try {
    const compiled = new RegExp(pattern, ignoreCase ? 'i' : '');
    return texts.map((text) => compiled.test(text));
  } catch (error) {
    return error.message.replace('/i: ', '/: ');
  }
}
