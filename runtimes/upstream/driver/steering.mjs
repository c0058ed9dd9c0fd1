// What the published command line tool does with injections in an interactive session.
// Source: `packages/cli/src/ui/AppContainer.tsx`, `ui/hooks/useGeminiStream.ts`.

const answersCalls = (request) =>
  Array.isArray(request) && request.some((part) => part.functionResponse !== undefined);

export class Steering {
  #core;
  #config;
  #pending = [];

  constructor(core, config) {
    this.#core = core;
    this.#config = config;
  }

  /** Collect injections, and put them in front of the next results of tools. */
  install() {
    this.#config.injectionService.onInjection((text) => this.#pending.push(text));
    const client = this.#config.getGeminiClient();
    const send = client.sendMessageStream.bind(client);
    client.sendMessageStream = (request, ...rest) => send(this.#steered(request), ...rest);
  }

  /** The injections that no request has taken. */
  get pending() {
    return [...this.#pending];
  }

  /** What an idle client sends as a prompt of its own; `null` for nothing. */
  takePrompt() {
    return this.#config.isModelSteeringEnabled() ? this.#take() : null;
  }

  #steered(request) {
    if (!answersCalls(request)) return request;
    const text = this.#take();
    return text === null ? request : [{ text }, ...request];
  }

  #take() {
    if (this.#pending.length === 0) return null;
    const hint = this.#pending.splice(0).join('\n').trim();
    return this.#core.buildUserSteeringHintPrompt(hint);
  }
}
