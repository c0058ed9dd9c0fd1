// The questions of the core to its user: asked in Python, answered when a `reply` comes.

export class Questions {
  #core;
  #channel;
  #open = new Map();
  #next = 1;

  constructor(core, channel) {
    this.#core = core;
    this.#channel = channel;
  }

  /** Answer the core's questions of these kinds; those of others get the core's default. */
  register(config, kinds) {
    if (kinds.includes('fallback')) {
      config.setFallbackModelHandler((failed, fallback, error) =>
        this.#ask('fallback', {
          failed,
          fallback,
          error: error?.constructor?.name ?? String(error),
        }),
      );
    }
    if (kinds.includes('validation')) {
      config.setValidationHandler((link, description, learnMoreUrl) =>
        this.#ask('validation', { link, description, learnMoreUrl }),
      );
    }
  }

  /** The user's answer; `failed` where the question failed or was withdrawn. */
  reply({ id, value, failed }) {
    const question = this.#open.get(id);
    this.#open.delete(id);
    if (failed === undefined) question?.resolve(value);
    else question?.reject(new Error(failed));
  }

  #ask(kind, question) {
    const id = this.#next++;
    const insideCall = this.#core.toolCall() ?? null;
    this.#channel.send({ t: 'question', id, kind, insideCall, ...question });
    return new Promise((resolve, reject) => this.#open.set(id, { resolve, reject }));
  }
}
