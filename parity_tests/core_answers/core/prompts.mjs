// The core's half of the subjects of prompts.py; only facts of its texts are kept.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { mock } from 'node:test';
import os from 'node:os';
import path from 'node:path';

const DAY_MS = 86_400_000;

// A configuration as the prompts read it; the core's own methods where they decide something.
async function configured(asked, root, load) {
  const { Config } = await load('config/config.js');
  const { FileDiscoveryService } = await load('services/fileDiscoveryService.js');
  const { MemoryContextManager } = await load('context/memoryContextManager.js');
  const folder = path.join(root, asked.name);
  const temp = path.join(root, 'home', '.gemini', 'tmp', asked.name);
  const { memory } = asked;
  const manager = memory && {
    getGlobalMemory: () => memory.user,
    getUserProjectMemory: () => memory.here,
    getExtensionMemory: () => memory.extensions,
    getEnvironmentMemory: () => memory.project,
  };
  const folders = [folder, ...(asked.added ? [path.join(root, 'more')] : [])];
  const config = {
    memoryContextManager: manager,
    userMemory: '',
    isInteractive: () => asked.interactive,
    getApprovalMode: () => asked.mode,
    getSkillManager: () => ({ getSkills: () => asked.skills }),
    isTopicUpdateNarrationEnabled: () => asked.narration,
    getApprovedPlanPath: () => asked.approved ?? undefined,
    getActiveModel: () => 'gemini-2.5-pro',
    isTrackerEnabled: () => asked.tracker,
    storage: {
      getProjectTempTrackerDir: () => path.join(temp, 'sess', 'tracker'),
      getPlansDir: () => path.join(temp, 'sess', 'plans'),
      getProjectTempDir: () => temp,
      getProjectMemoryDir: () => path.join(temp, 'none'),
      getProjectMemoryTempDir: () => path.join(temp, 'none'),
    },
    // Relative paths would name other texts than ours.
    getProjectRoot: () => '/',
    getAgentRegistry: () => ({ getAllDefinitions: () => [], getDefinition: () => undefined }),
    getEnableShellOutputEfficiency: () => false,
    isInteractiveShellEnabled: () => false,
    getSandboxEnabled: () => false,
    topicState: { getTopic: () => asked.topic ?? undefined },
    getIncludeDirectoryTree: () => asked.tree,
    getWorkspaceContext: () => ({ getDirectories: () => folders }),
    getFileService: () => new FileDiscoveryService(folder),
    getSystemInstructionMemory: Config.prototype.getSystemInstructionMemory,
    getSessionMemory: Config.prototype.getSessionMemory,
  };
  return { config, folder, temp, folders };
}

export async function facts(asked, load) {
  const { PromptProvider } = await load('prompts/promptProvider.js');
  const { LocalAgentExecutor } = await load('agents/local-executor.js');
  const { getDirectoryContextString, getInitialChatHistory } = await load('utils/environmentContext.js');
  const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'prompts-')));
  mock.timers.enable({ apis: ['Date'], now: asked.day * DAY_MS });
  try {
    for (const name of asked.files) {
      const file = path.join(root, asked.name, name);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, '');
    }
    const more = path.join(root, 'more');
    mkdirSync(more);
    writeFileSync(path.join(more, 'm.txt'), '');
    const { config, folder, temp } = await configured(asked, root, load);
    const tracker = path.join(temp, 'sess', 'tracker');
    const plans = path.join(temp, 'sess', 'plans');
    const long = { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' };
    const names = [
      tracker,
      tracker.replaceAll(']', '').replaceAll('\n', ' '),
      ...[asked.mode === 'plan' && asked.approved, ...Object.values(asked.memory ?? {})].filter(Boolean),
      ...asked.skills.flatMap((each) => Object.values(each)),
      `${plans}/`,
      `${folder}\n`,
      `${more}\n`,
      '└───b.txt',
      '├───a',
      '└───m.txt',
      'linux',
      new Date(asked.day * DAY_MS).toLocaleDateString('en-US', { ...long, timeZone: 'UTC' }),
      temp,
    ];
    const named = (text) => names.filter((name) => text.includes(name));
    // Our main loop has the skills from the description of a tool.
    const apart = new Set([temp, ...asked.skills.flatMap((each) => Object.values(each))]);
    const toolRegistry = { getAllToolNames: () => [], getAllTools: () => [],
      getTool: () => (asked.agent_skills ? {} : undefined) };
    const memory = config.getSystemInstructionMemory();
    let system = new PromptProvider().getCoreSystemPrompt({ config, toolRegistry }, memory);
    // The core's paths in its system prompt are relative to the root.
    if (asked.mode === 'plan') system = system.replaceAll(plans.slice(1), plans);
    if (asked.approved) system = system.replaceAll(asked.approved.slice(1), asked.approved);
    const executor = { context: { config }, toolRegistry,
      definition: { promptConfig: { systemPrompt: 'AGENT' }, outputConfig: {} } };
    const agent = await LocalAgentExecutor.prototype.buildSystemPrompt.call(executor, {});
    const [first] = await getInitialChatHistory(config);
    const { text } = first.content.parts[0];
    const later = await getDirectoryContextString(config);
    const answer = [
      named(system).filter((name) => !apart.has(name)),
      [...system.matchAll(/\n\n(\[Active Topic: .*\])$/g)].map((found) => found[1]),
      agent.startsWith('AGENT\n'),
      named(agent),
      first.content.role,
      named(text),
      [text.startsWith('<session_context>\n'), text.endsWith('\n</session_context>')],
      text.match(/\n\n?<loaded_context>[^$]*/g) ?? [],
      named(later),
      config.getSessionMemory(),
    ];
    return JSON.parse(JSON.stringify(answer).replaceAll(root, '@'));
  } finally {
    mock.timers.reset();
    rmSync(root, { recursive: true });
  }
}
