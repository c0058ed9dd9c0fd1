// The core's half of the subjects of bus.py.
import { mock } from 'node:test';

const TYPES = {
  request: 'tool-confirmation-request',
  response: 'tool-confirmation-response',
  rejection: 'tool-policy-rejection',
  calls: 'tool-calls-update',
  activity: 'subagent-activity',
  policy: 'update-policy',
};

function shown(message, id) {
  switch (message.type) {
    case TYPES.request: {
      const { toolCall, serverName, toolAnnotations, subagent, details, forcedDecision } = message;
      return ['request', id(message), toolCall.name, toolCall.args, serverName ?? null,
        toolAnnotations ?? null, subagent ?? null, details ?? null, forcedDecision ?? null];
    }
    case TYPES.response:
      return ['response', id(message), message.confirmed, message.outcome ?? null,
        message.payload ?? null, message.requiresUserConfirmation ?? false];
    case TYPES.rejection:
      return ['rejection', message.toolCall.name, message.toolCall.args];
    case TYPES.calls:
      return ['calls', message.schedulerId];
    case TYPES.activity:
      return ['activity', message.subagentName, message.activity];
  }
  return ['policy', message.toolName];
}

function asking(fields) {
  return {
    type: TYPES.request,
    toolCall: { name: fields.tool, args: fields.args ?? {} },
    correlationId: fields.id,
    serverName: fields.server,
    toolAnnotations: fields.annotations,
    subagent: fields.subagent,
    details: fields.details,
    forcedDecision: fields.forced,
  };
}

function announcing(kind, fields, original) {
  switch (kind) {
    case 'response': {
      const { id, confirmed, outcome, payload, asks } = fields;
      return { type: TYPES.response, correlationId: original(id), confirmed, outcome, payload,
        requiresUserConfirmation: asks };
    }
    case 'calls':
      return { type: TYPES.calls, toolCalls: [], schedulerId: fields.id };
    case 'activity':
      return { type: TYPES.activity, subagentName: fields.subagent, activity: fields.activity };
  }
  return { type: TYPES.policy, toolName: fields.tool };
}

export async function play({ decisions, steps }, load) {
  const { MessageBus } = await load('confirmation-bus/message-bus.js');
  mock.timers.enable({ apis: ['setTimeout'] });
  let seen = [];
  const policy = {
    async check(call, server, annotations, subagent) {
      seen.push(['policy', call.name, call.args, server ?? null, annotations ?? null, subagent ?? null]);
      if (call.name === 'fails') throw new Error(call.name);
      return { decision: decisions[call.name] };
    },
  };
  const main = new MessageBus(policy);
  main.on('error', () => {});
  // The core's policy hears of updates as the first subscriber.
  main.subscribe(TYPES.policy, ({ toolName }) => seen.push(['applied', toolName]));
  // The core makes the ids of requests; the script names them.
  const named = new Map();
  const id = ({ correlationId }) => named.get(correlationId) ?? correlationId;
  const original = (name) => [...named].find(([, each]) => each === name)?.[0] ?? name;
  const bus = (path) => path.split('/').filter(Boolean).reduce((on, name) => on.derive(name), main);
  const off = {};
  const play = {
    off: (name) => off[name](),
    pass: (ms) => mock.timers.tick(ms),
    on(path, name, kind, does) {
      const on = bus(path);
      const heard = (message) => {
        seen.push([name, ...shown(message, id)]);
        if (does === 'fail') throw new Error(name);
        if (does === 'confirm') {
          main.publish({ type: TYPES.response, correlationId: message.correlationId, confirmed: true });
        } else if (does !== null) off[does]();
      };
      on.subscribe(TYPES[kind], heard);
      off[name] = () => on.unsubscribe(TYPES[kind], heard);
    },
    ask: (path, fields) => bus(path).publish(asking(fields)),
    tell: (path, kind, fields) => bus(path).publish(announcing(kind, fields, original)),
    request(path, ms, fields) {
      const on = bus(path);
      const publish = on.publish.bind(on);
      on.publish = (message) => {
        named.set(message.correlationId, fields.id);
        return publish(message);
      };
      on.request(asking(fields), TYPES.response, ms).then(
        (answer) => seen.push(['answered', fields.id, ...shown(answer, id)]),
        (error) => seen.push(['late', fields.id, error.message]),
      );
      if (Object.hasOwn(on, 'publish') && on === main) delete on.publish;
    },
  };
  const answers = [];
  for (const [step, ...given] of steps) {
    seen = [];
    await play[step](...given);
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    answers.push(seen);
  }
  mock.timers.reset();
  return answers;
}
