// Reports of the core's child agents. The core itself shows their activities only as progress, and
// does not pass on the events of their sessions.
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const plain = (value) => JSON.parse(JSON.stringify(value));

/** Reports every child that is made inside a call's execution; a version may lack the classes. */
export class Children {
  #send;
  #toolCall;
  /** Executors of children → their ids. */
  #made = new WeakMap();
  /** Sessions that are subscribed to. */
  #watched = new WeakSet();
  /** Call → the latest session that was started in it. */
  #sessions = new Map();

  /** `send` takes messages; `toolCall` returns the call that is being executed. */
  constructor(send, toolCall) {
    this.#send = send;
    this.#toolCall = toolCall;
  }

  /** Put itself between the package in `folder` and its children, once per process. */
  async install(folder) {
    const load = (file) =>
      import(pathToFileURL(path.join(folder, 'dist', 'src', 'agents', file)).href).catch(() => ({}));
    const { LocalAgentExecutor: Executor } = await load('local-executor.js');
    const { LocalSubagentSession: ChildSession } = await load('local-subagent-protocol.js');
    const children = this;
    if (typeof Executor?.prototype?.emitActivity === 'function') {
      const { create } = Executor;
      Executor.create = async function (definition, ...rest) {
        const executor = await create.call(this, definition, ...rest);
        children.#begun(executor, definition.name);
        return executor;
      };
      const { emitActivity } = Executor.prototype;
      Executor.prototype.emitActivity = function (type, data) {
        const agentId = children.#made.get(this);
        if (agentId !== undefined) {
          children.#send({ t: 'activity', agentId, type, data: plain(data) });
        }
        return emitActivity.call(this, type, data);
      };
    }
    if (typeof ChildSession?.prototype?.send === 'function') {
      const { send } = ChildSession.prototype;
      ChildSession.prototype.send = function (...given) {
        children.#watch(this);
        return send.apply(this, given);
      };
    }
  }

  /** Forget the session's children. */
  reset() {
    this.#sessions.clear();
  }

  #watch(session) {
    if (this.#watched.has(session)) return;
    this.#watched.add(session);
    // Its first event comes before its executor, and with it the child's id, is made.
    const record = { agentId: undefined, waiting: [] };
    this.#sessions.set(this.#toolCall(), record);
    session.subscribe((event) => {
      const message = { t: 'childEvent', event: plain(event) };
      if (record.agentId === undefined) record.waiting.push(message);
      else this.#send({ ...message, agentId: record.agentId });
    });
  }

  #begun(executor, agent) {
    const call = this.#toolCall();
    if (call === undefined) return;
    const { agentId } = executor;
    const record = this.#sessions.get(call);
    this.#sessions.delete(call);
    this.#made.set(executor, agentId);
    this.#send({ t: 'child', agentId, agent, call, session: record !== undefined });
    if (record === undefined) return;
    record.agentId = agentId;
    for (const message of record.waiting.splice(0)) this.#send({ ...message, agentId });
  }
}
