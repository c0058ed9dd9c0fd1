// The core's half of the subjects of answering.py.
import { Buffer } from 'node:buffer';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const TOOLS = {
  ask_user: ['ask-user.js', 'AskUserTool', true],
  enter_plan_mode: ['enter-plan-mode.js', 'EnterPlanModeTool'],
  exit_plan_mode: ['exit-plan-mode.js', 'ExitPlanModeTool'],
};

function lay(root, files) {
  for (const [name, value] of Object.entries(files)) {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    if (value === null) mkdirSync(file);
    else writeFileSync(file, Buffer.from(value, 'latin1'));
  }
}

async function inFolder(play) {
  const top = realpathSync(mkdtempSync(path.join(tmpdir(), 'parity-answering-')));
  const answer = JSON.stringify(await play(top));
  rmSync(top, { recursive: true });
  return JSON.parse(answer.replaceAll(top, '<TOP>'));
}

function question(asked) {
  if (!asked) return null;
  const { onConfirm, ...rest } = asked;
  return rest;
}

async function run(call, signal) {
  try {
    const { llmContent, returnDisplay, data, error } = await call.execute({ abortSignal: signal });
    const failure = error ? [error.type, error.message] : null;
    const llm = error ? `Error: ${error.message}` : llmContent;
    return { llm, shown: returnDisplay, data: data ?? null, error: failure };
  } catch (error) {
    return { thrown: error.message };
  }
}

async function bus(load) {
  const { MessageBus } = await load('confirmation-bus/message-bus.js');
  return new MessageBus({ check: async () => ({ decision: 'ask_user' }) }, false);
}

/** `{files, interactive, steps: [[tool, args, decision, outcome, payload], …]}` => the results. */
export async function asked(input, load) {
  const messages = await bus(load);
  const signal = new AbortController().signal;
  return inFolder(async (top) => {
    const root = path.join(top, 'ws');
    const plans = path.join(root, 'plans');
    lay(root, input.files ?? {});
    let mode = 'default';
    let plan = null;
    const config = {
      storage: { getPlansDir: () => plans },
      getProjectRoot: () => root,
      isInteractive: () => input.interactive ?? false,
      setApprovalMode: (given) => (mode = given),
      setApprovedPlanPath: (given) => (plan = given),
      getUsageStatisticsEnabled: () => false,
    };
    const answers = [];
    for (const [name, args, decision, outcome, payload] of input.steps) {
      const [file, kind, alone] = TOOLS[name];
      const module = await load(`tools/${file}`);
      const tool = alone ? new module[kind](messages) : new module[kind](config, messages);
      let call;
      try {
        call = tool.build(args);
      } catch (error) {
        answers.push({ fault: error.message });
        continue;
      }
      const answer = { described: call.getDescription(), question: null };
      if (decision === 'ask_user' || name === 'exit_plan_mode') {
        const details = await call.shouldConfirmExecute(signal, 'ask_user');
        if (details && decision === 'ask_user') {
          answer.question = question(details);
          if (JSON.stringify(details.questions) === JSON.stringify(args.questions ?? [])) {
            answer.question.questions = 'as asked';
          }
          await details.onConfirm(outcome, payload);
        }
      }
      answers.push({ ...answer, ...(await run(call, signal)), mode, plan });
    }
    return { answers, plans: existsSync(plans) };
  });
}

/** `{tool, params, resources, servers}` => what the tool answers of the servers' resources. */
export async function resources(input, load) {
  const manager = {
    getAllResources: () => input.resources,
    findResourceByUri: (uri) => input.resources.find((each) => each.uri === uri),
    getClient: (server) =>
      server in input.servers && {
        readResource: async () => {
          const answer = input.servers[server];
          if (typeof answer === 'string') throw new Error(answer);
          return answer;
        },
      },
  };
  const context = { config: { getMcpClientManager: () => manager } };
  const { ListMcpResourcesTool } = await load('tools/list-mcp-resources.js');
  const { ReadMcpResourceTool } = await load('tools/read-mcp-resource.js');
  const Tool = input.tool === 'list' ? ListMcpResourcesTool : ReadMcpResourceTool;
  const call = new Tool(context, await bus(load)).build(input.params);
  const signal = new AbortController().signal;
  const details = question(await call.shouldConfirmExecute(signal, 'ask_user'));
  return { described: call.getDescription(), question: details, ...(await run(call, signal)) };
}

/** `{files, skills, gone, params}` => what the tool answers of a skill. */
export async function skills(input, load) {
  const messages = await bus(load);
  const { ActivateSkillTool } = await load('tools/activate-skill.js');
  const { WorkspaceContext } = await load('utils/workspaceContext.js');
  return inFolder(async (top) => {
    lay(top, input.files);
    mkdirSync(path.join(top, 'ws'), { recursive: true });
    const workspace = new WorkspaceContext(path.join(top, 'ws'));
    const found = input.skills.map(({ folder, builtin, ...rest }) => ({
      ...rest,
      isBuiltin: builtin ?? false,
      location: path.join(top, folder, 'SKILL.md'),
    }));
    const config = {
      getSkillManager: () => ({
        getSkills: () => found,
        getSkill: (name) => found.find((each) => each.name === name) ?? null,
        activateSkill: () => {},
      }),
      getWorkspaceContext: () => workspace,
    };
    const tool = new ActivateSkillTool(config, messages);
    let call;
    try {
      call = tool.build(input.params);
    } catch {
      return 'fault';
    }
    found.splice(0, input.gone ?? 0);
    const signal = new AbortController().signal;
    const described = {
      described: call.getDescription(),
      question: question(await call.shouldConfirmExecute(signal, 'ask_user')),
    };
    const ran = await run(call, signal);
    return { ...described, ...ran, folders: [...workspace.getDirectories()] };
  });
}
