// A client of the npm package @a2a-js/sdk: a task with two confirmations and a command's output.
// node peer.mjs FOLDER URL WORKSPACE 0.3|1.0 JSONRPC|HTTP+JSON
// FOLDER has the packages. Prints what the client has seen, as JSON.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, url, workspace, version, transport] = process.argv.slice(2);
const require = createRequire(`${folder}/package.json`);
const packageName = version === "0.3" ? "a2a-js-sdk-0.3" : "@a2a-js/sdk";
const file = require.resolve(`${packageName}/client`);
const { ClientFactory, ClientFactoryOptions } = await import(pathToFileURL(file));

const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
  preferredTransports: [transport],
});
const client = await new ClientFactory(options).createFromUrl(url);

// Both versions as one: the state, the parts, and the ids of an event.
function read(event) {
  if (version === "0.3") {
    const status = event.status ?? {};
    const parts = [...(status.message?.parts ?? []), ...(event.artifact?.parts ?? [])];
    return {
      kind: event.kind,
      task: event.taskId ?? event.id,
      state: status.state,
      texts: parts.filter((part) => part.kind === "text").map((part) => part.text),
      data: parts.filter((part) => part.kind === "data").map((part) => part.data),
    };
  }
  const { $case, value } = event.payload;
  const parts = [...(value.status?.message?.parts ?? []), ...(value.artifact?.parts ?? [])];
  const of = (kind) =>
    parts.filter((part) => part.content?.$case === kind).map((part) => part.content.value);
  return {
    kind: $case,
    task: value.taskId ?? value.id,
    state: value.status?.state,
    texts: of("text"),
    data: of("data"),
  };
}

let number = 0;
function message(part, task) {
  number += 1;
  const metadata = { coderAgent: { kind: "agent-settings", workspacePath: workspace } };
  if (version === "0.3") {
    const kind = part.text === undefined ? "data" : "text";
    return {
      message: {
        kind: "message",
        role: "user",
        messageId: `m${number}`,
        parts: [{ kind, ...part }],
        ...(task ? { taskId: task } : { metadata }),
      },
    };
  }
  const [[$case, value]] = Object.entries(part);
  return {
    tenant: "",
    configuration: undefined,
    metadata: undefined,
    message: {
      messageId: `m${number}`,
      contextId: "",
      taskId: task ?? "",
      role: 1,
      parts: [{ content: { $case, value }, metadata: undefined, filename: "", mediaType: "" }],
      metadata: task ? undefined : metadata,
      extensions: [],
      referenceTaskIds: [],
    },
  };
}

const seen = { confirmed: [], output: [], texts: [], kinds: [] };
let task;
async function say(part) {
  let asked;
  for await (const event of client.sendMessageStream(message(part, task))) {
    const { kind, task: id, state, texts, data } = read(event);
    task = id;
    seen.kinds.push(kind);
    seen.last = state;
    for (const call of data) {
      if (call.status === "awaiting_approval" && !call.outcome) asked = call.request;
      if (call.status === "success") seen.done = [...(seen.done ?? []), call.request.name];
    }
    (kind.startsWith("artifact") ? seen.output : seen.texts).push(...texts);
  }
  return asked;
}

let asked = await say({ text: "go" });
while (asked) {
  seen.confirmed.push(asked.name);
  asked = await say({ data: { callId: asked.callId, outcome: "proceed_once" } });
}
const kept =
  version === "0.3"
    ? await client.getTask({ id: task, historyLength: 100 })
    : await client.getTask({ tenant: "", id: task, historyLength: 100 });
seen.history = kept.history.length;
console.log(JSON.stringify(seen));
