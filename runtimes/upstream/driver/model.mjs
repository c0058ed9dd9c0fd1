// The core's model: a content generator that asks Python, request by request and chunk by chunk.
/** What Python knows of a conversation already, so that a request is sent as what is new in it. */
class Lineages {
  #known = new Map();

  /** The leading contents that the last request of `key` had too, and those that follow. */
  difference(key, contents) {
    const before = this.#known.get(key) ?? [];
    const texts = contents.map((content) => JSON.stringify(content));
    let same = 0;
    while (same < before.length && same < texts.length && before[same] === texts[same]) same += 1;
    this.#known.set(key, texts);
    return { same, contents: contents.slice(same) };
  }
}

export class Model {
  #channel;
  #genai;
  #toolCall;
  #waiting = new Map();
  #lineages = new Lineages();
  #next = 1;
  #sent = {};
  #perform;

  /**
   * `genai` is the core's own copy of the SDK; `toolCall` returns the call in whose execution the
   * request is made; `perform` takes the commands that come with a reply.
   */
  constructor({ channel, genai, toolCall, perform }) {
    this.#channel = channel;
    this.#genai = genai;
    this.#toolCall = toolCall;
    this.#perform = perform;
  }

  /** The tools declared last, as JSON. */
  get declarations() {
    return this.#sent.tools ?? '';
  }

  /** An answer from Python: `{id, value | chunk | end | error}`; each but an error is pulled. */
  answer(message) {
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (waiting === undefined) return;
    if (message.error !== undefined) waiting.reject(this.#error(message.error));
    else waiting.resolve(message);
  }

  async generateContent(request, promptId, role) {
    const [, { value }] = await this.#ask('generateContent', request, promptId, role);
    return this.#response(value);
  }

  async generateContentStream(request, promptId, role) {
    const [id] = await this.#ask('generateContentStream', request, promptId, role);
    return this.#chunks(id);
  }

  async countTokens(request) {
    const [, { value }] = await this.#ask('countTokens', request);
    return value;
  }

  async embedContent(request) {
    const [, { value }] = await this.#ask('embedContent', request);
    return value;
  }

  async #ask(method, request, promptId, role) {
    const id = this.#next++;
    const { abortSignal, tools, systemInstruction, ...config } = request.config ?? {};
    const contents = asContents(request.contents);
    const reply = this.#channel.call({
      t: 'request',
      id,
      method,
      model: request.model,
      role,
      promptId,
      insideCall: this.#toolCall(),
      ...this.#lineages.difference(`${role} ${this.#toolCall() ?? ''}`, contents),
      config,
      aborted: abortSignal?.aborted ?? false,
      changed: this.#changed({ tools, systemInstruction }),
    });
    const cancel = () => this.#channel.send({ t: 'cancel', id });
    const answered = this.#answered(id);
    abortSignal?.addEventListener('abort', cancel, { once: true });
    this.#perform(reply);
    this.#channel.send({ t: 'pull', id });
    return [id, await answered];
  }

  async *#chunks(id) {
    let ended = false;
    try {
      for (;;) {
        this.#channel.send({ t: 'pull', id });
        const message = await this.#answered(id);
        if (message.end) {
          ended = true;
          return;
        }
        yield this.#response(message.chunk);
      }
    } finally {
      if (!ended) this.#channel.send({ t: 'leave', id });
    }
  }

  #answered(id) {
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  /** What stays the same for long is sent where it has changed; null where it is there no more. */
  #changed(values) {
    const changed = {};
    for (const [name, value] of Object.entries(values)) {
      const text = JSON.stringify(value ?? null);
      if (text === this.#sent[name]) continue;
      this.#sent[name] = text;
      changed[name] = value ?? null;
    }
    return changed;
  }

  #response(value) {
    return Object.setPrototypeOf(value, this.#genai.GenerateContentResponse.prototype);
  }

  #error({ status, name, message, code, cause }) {
    if (status !== undefined) return new this.#genai.ApiError({ message, status });
    const error = new Error(message);
    if (name !== undefined) error.name = name;
    if (code !== undefined) error.code = code;
    if (cause !== undefined) error.cause = isErrorLike(cause) ? this.#error(cause) : cause;
    return error;
  }
}

function isErrorLike(value) {
  return typeof value === 'object' && value !== null && 'message' in value;
}

/** The SDK takes a text, a content, or lists of them. */
function asContents(contents) {
  const list = Array.isArray(contents) ? contents : [contents];
  return list.map((each) => (typeof each === 'string' ? { role: 'user', parts: [{ text: each }] } : each));
}
