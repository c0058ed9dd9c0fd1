// What the core asks remote agents, which node counts among connections that may stay open for ever.
import { callerHere } from './seams.mjs';

/** Where agents and their cards are asked. */
const ASKING = /[\\/]agents[\\/]a2a-client-manager\.js/;

/** Requests to remote agents: work in progress until the last byte of the answer has come. */
export class Requests {
  #underWay = new Set();

  /** Whether an answer is still to come, or to come to its end. */
  get busy() {
    return this.#underWay.size > 0;
  }

  install() {
    const requests = this;
    const fetch = globalThis.fetch;
    globalThis.fetch = function (...given) {
      return ASKING.test(callerHere()) ? requests.#follow(fetch(...given)) : fetch(...given);
    };
  }

  /** A session's requests are no business of the next one. */
  reset() {
    this.#underWay.clear();
  }

  async #follow(asked) {
    this.#underWay.add(asked);
    let response;
    try {
      response = await asked;
    } catch (error) {
      this.#underWay.delete(asked);
      throw error;
    }
    // A copy is read to its end whatever the core does with the answer itself.
    const over = () => this.#underWay.delete(asked);
    void response.clone().arrayBuffer().then(over, over);
    return response;
  }
}
