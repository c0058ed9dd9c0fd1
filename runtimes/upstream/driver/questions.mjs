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
    if (kinds.includes('new_agents')) {
      const { CoreEvent, coreEvents } = this.#core.core;
      coreEvents.on(CoreEvent.AgentsDiscovered, ({ agents }) => void this.#meet(config, agents));
    }
  }

  /** The user's answer; `failed` where the question failed or was withdrawn. */
  reply({ id, value, failed }) {
    const question = this.#open.get(id);
    this.#open.delete(id);
    if (failed === undefined) question?.resolve(value);
    else question?.reject(new Error(failed));
  }

  /** Ask about new agents of the project; the session goes on meanwhile. */
  async #meet(config, agents) {
    const shown = agents.map(({ name, description }) => ({ name, description }));
    const answer = await this.#ask('new_agents', { agents: shown }).catch(() => undefined);
    if (answer !== 'acknowledge') return;
    for (const agent of agents) await config.getAgentRegistry().acknowledgeAgent(agent);
  }

  #ask(kind, question) {
    const id = this.#next++;
    const insideCall = this.#core.toolCall() ?? null;
    this.#channel.send({ t: 'question', id, kind, insideCall, ...question });
    return new Promise((resolve, reject) => this.#open.set(id, { resolve, reject }));
  }
}
