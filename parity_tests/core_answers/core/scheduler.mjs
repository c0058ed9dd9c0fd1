// The core's half of the subjects of scheduler.py.

export async function response({ name, id, content, model }, load) {
  const { convertToFunctionResponse } = await load('utils/generateContentResponseUtilities.js');
  return convertToFunctionResponse(name, id, content, model);
}

const described = (text) => ({ getDescription: () => text });

function callOf({ id, name, status, error, original, display, unstarted }, now) {
  const request = { callId: id, name, args: { from: id } };
  if (original !== undefined) request.originalRequestName = original;
  if (display) request.display = { name, description: 'before' };
  if (error !== undefined) return { status: 'error', request, response: answerOf(id, { error }) };
  const startTime = unstarted ? undefined : now;
  return { status, request, tool: { name }, invocation: described('first'), startTime };
}

function answerOf(id, { text, error, shown }) {
  const said = error === undefined ? { output: text } : { error };
  const parts = [{ functionResponse: { id, name: 't', response: said } }];
  return { callId: id, responseParts: parts, resultDisplay: shown, error };
}

function shownOf(call) {
  const { response, request } = call;
  return {
    id: request.callId,
    status: call.status,
    args: request.args,
    described: request.display?.description ?? null,
    outcome: call.outcome ?? null,
    asked: call.confirmationDetails?.title ?? null,
    correlation: call.correlationId ?? null,
    live: call.liveOutput ?? null,
    pid: call.pid ?? null,
    progress: call.progress === undefined ? null : [
      call.progress, call.progressTotal ?? null, call.progressPercent ?? null,
      call.progressMessage ?? null,
    ],
    answer: response?.responseParts ?? null,
    result: response?.resultDisplay ?? null,
    length: response?.contentLength ?? null,
    took: call.durationMs ?? null,
  };
}

export async function states(steps, load) {
  const { SchedulerStateManager } = await load('scheduler/state-manager.js');
  let published = [];
  const bus = {
    publish: async ({ toolCalls, schedulerId }) =>
      void published.push([schedulerId, toolCalls.map(shownOf)]),
  };
  const store = new SchedulerStateManager(bus, 'S');
  const real = Date.now;
  let now = 1000;
  Date.now = () => now;
  const play = {
    wait: (ms) => void (now += ms),
    enqueue: (...calls) => store.enqueue(calls.map((each) => callOf(each, now))),
    dequeue: () => void store.dequeue(),
    move: (id, status, about) => store.updateStatus(id, status, dataOf(id, status, about)),
    finalise: (id) => store.finalizeCall(id),
    args: (id, args, text) => store.updateArgs(id, args, described(text)),
    outcome: (id, outcome) => store.setOutcome(id, outcome),
    tail: (id, call) => store.replaceActiveCallWithTailCall(id, callOf(call, now)),
    cancel: (reason) => store.cancelAllQueued(reason),
    clear: () => store.clearBatch(),
  };
  try {
    return steps.map(([what, ...given]) => {
      published = [];
      play[what](...given);
      return published;
    });
  } finally {
    Date.now = real;
  }
}

function dataOf(id, status, about) {
  if (status === 'awaiting_approval') {
    const { type, title, fields, correlation } = about;
    return { correlationId: correlation, confirmationDetails: { type, title, ...fields } };
  }
  if (status === 'executing') return about ?? undefined;
  return typeof about === 'object' && about !== null ? answerOf(id, about) : about ?? undefined;
}

export const edges = states;
