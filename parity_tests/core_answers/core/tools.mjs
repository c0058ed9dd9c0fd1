// The core's half of the subjects of tools.py: a session's tools in a temporary folder.
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const CLASSES = {
  read_file: ['read-file.js', 'ReadFileTool'],
  write_file: ['write-file.js', 'WriteFileTool'],
  replace: ['edit.js', 'EditTool'],
  list_directory: ['ls.js', 'LSTool'],
  glob: ['glob.js', 'GlobTool'],
  grep_search: ['grep.js', 'GrepTool'],
  read_many_files: ['read-many-files.js', 'ReadManyFilesTool'],
  update_topic: ['topicTool.js', 'UpdateTopicTool'],
  write_todos: ['write-todos.js', 'WriteTodosTool', true],
  ask_user: ['ask-user.js', 'AskUserTool', true],
  enter_plan_mode: ['enter-plan-mode.js', 'EnterPlanModeTool'],
  exit_plan_mode: ['exit-plan-mode.js', 'ExitPlanModeTool'],
  google_web_search: ['web-search.js', 'WebSearchTool'],
  tracker_create_task: ['trackerTools.js', 'TrackerCreateTaskTool'],
  tracker_update_task: ['trackerTools.js', 'TrackerUpdateTaskTool'],
  tracker_get_task: ['trackerTools.js', 'TrackerGetTaskTool'],
  tracker_list_tasks: ['trackerTools.js', 'TrackerListTasksTool'],
  tracker_add_dependency: ['trackerTools.js', 'TrackerAddDependencyTool'],
  tracker_visualize: ['trackerTools.js', 'TrackerVisualizeTool'],
};
const TREES = JSON.parse(readFileSync(new URL('./trees.json', import.meta.url), 'utf8'));
const LONG = 100;
const MANY = 12;
const BEGIN_S = 1_700_000_000;

function content(value) {
  if (typeof value === 'string') return Buffer.from(value);
  if ('base64' in value) return Buffer.from(value.base64, 'base64');
  return Buffer.from(value.repeat.repeat(value.times));
}

/** The value with long texts, and long lists of texts, cut and known by their hash. */
export function shortened(value) {
  if (typeof value === 'string') {
    const points = [...value];
    if (points.length <= LONG) return value;
    const hash = createHash('sha256').update(value).digest('hex').slice(0, 12);
    return `${points.slice(0, 40).join('')}…${hash}`;
  }
  if (Array.isArray(value)) {
    if (value.length > MANY && value.every((each) => typeof each === 'string')) {
      return [value[0], shortened(value.join('\n'))];
    }
    return value.map(shortened);
  }
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shortened(each)]));
}

export function lay(root, files) {
  let second = 0;
  for (const [name, value] of Object.entries(files)) {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    if (value === null) mkdirSync(file);
    else if (typeof value === 'object' && 'link' in value) symlinkSync(value.link, file);
    else {
      writeFileSync(file, content(value));
      utimesSync(file, BEGIN_S + second, BEGIN_S + second);
      second += 60;
    }
  }
}

function texts(root, folder = root) {
  const found = {};
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) Object.assign(found, texts(root, file));
    else if (entry.isFile() && statSync(file).mtimeMs > (BEGIN_S + 1e6) * 1000) {
      found[path.relative(root, file)] = readFileSync(file).toString('latin1');
    }
  }
  return found;
}

function undescribed(value) {
  if (Array.isArray(value) || value === null || typeof value !== 'object') return value;
  const { description, ...rest } = value;
  return Object.fromEntries(Object.entries(rest).map(([key, each]) => [key, undescribed(each)]));
}

function question(asked) {
  if (!asked) return null;
  const { onConfirm, ideConfirmation, systemMessage, ...rest } = asked;
  return rest;
}

/** What a client shows, without what the result has as well. */
function display({ name, description, resultSummary, result }, described, shown) {
  const short = [name, description === described, resultSummary ?? null];
  if (!result) return short;
  const { type, path: file, text, beforeText, afterText } = result;
  const same = type === 'text' ? text === shown : beforeText === (shown.originalContent ?? '');
  const rest = type === 'text' ? (same ? true : text.split('\n').length) : [file, same, afterText];
  return [...short, rest];
}

function byCodePoints(one, two) {
  return Buffer.compare(Buffer.from(one), Buffer.from(two));
}

async function play(tools, [name, args], signal, correcting) {
  const tool = tools(name);
  let call;
  try {
    call = tool.build(args);
  } catch (error) {
    return { fault: error.message };
  }
  const answer = { described: call.getDescription(), locations: call.toolLocations() };
  answer.rule = call.getPolicyUpdateOptions('proceed_always') ?? null;
  try {
    // A question would use up an answer about an edit.
    const asked = correcting ? null : await call.shouldConfirmExecute(signal, 'ask_user');
    answer.question = question(asked);
  } catch (error) {
    return { ...answer, thrown: error.message };
  }
  let result;
  try {
    result = await call.execute({ abortSignal: signal });
  } catch {
    return { ...answer, raised: true };
  }
  let { llmContent: llm, returnDisplay: shown } = result;
  if (name === 'grep_search' && shown?.matches) {
    // The core finds files in the order of the program that searches.
    llm = llm.split('\n').sort(byCodePoints);
    const matches = shown.matches.toSorted(
      (one, two) => byCodePoints(one.filePath, two.filePath) || one.lineNumber - two.lineNumber,
    );
    shown = { ...shown, matches };
  }
  if (result.display) answer.display = display(result.display, answer.described, shown);
  return {
    ...answer,
    llm: result.error ? null : llm,
    shown,
    error: result.error ? [result.error.type, result.error.message] : null,
  };
}

/** `{files, settings, mode, calls}` => what each call answers, and the files that were written. */
async function calls(input, load) {
  const top = realpathSync(mkdtempSync(path.join(tmpdir(), 'parity-tools-')));
  const root = path.join(top, 'ws');
  const home = path.join(top, 'home');
  process.env.GEMINI_CLI_HOME = home;
  mkdirSync(root);
  mkdirSync(home);
  lay(root, (typeof input.files === 'string' ? TREES[input.files] : input.files) ?? {});
  const { Config } = await load('config/config.js');
  for (const [file, reset] of [
    ['utils/llm-edit-fixer.js', 'resetLlmEditFixerCaches_TEST_ONLY'],
    ['utils/editCorrector.js', 'resetEditCorrectorCaches_TEST_ONLY'],
  ]) {
    (await load(file))[reset]();
  }
  const config = new Config({
    sessionId: '5e551011-0000-4000-8000-000000000000',
    targetDir: root,
    cwd: root,
    model: input.model ?? 'gemini-2.5-pro',
    debugMode: false,
    interactive: false,
    approvalMode: input.mode ?? 'default',
    disableLLMCorrection: input.corrections === undefined,
    trustedFolder: true,
    usageStatisticsEnabled: false,
    experimentalJitContext: false,
    fileFiltering: input.filtering,
  });
  await config.storage.initialize();
  const asked = [];
  const corrections = [...(input.corrections ?? [])];
  const generateJson = async ({ modelConfigKey, contents, schema, maxAttempts, role }) => {
    const [{ role: who, parts }] = contents;
    const text = parts[0].text;
    asked.push([modelConfigKey, who, text, maxAttempts ?? null, role, undescribed(schema)]);
    const answer = corrections.shift();
    if (typeof answer === 'string') throw new Error(answer);
    return answer;
  };
  config.getBaseLlmClient = () => ({ generateJson });
  for (const each of input.added ?? []) {
    mkdirSync(path.join(top, each), { recursive: true });
    config.getWorkspaceContext().addDirectory(path.join(top, each));
  }
  if (input.memory) {
    const { MemoryContextManager } = await load('context/memoryContextManager.js');
    const manager = new MemoryContextManager(config);
    config.getMemoryContextManager = () => manager;
    await manager.refresh();
  }
  const { TrackerService } = await load('services/trackerService.js');
  const tracker = new TrackerService(path.join(root, 'tasks'));
  let tasks = 0;
  tracker.generateId = () => `task0${++tasks}`;
  config.getTrackerService = () => tracker;
  const responses = [...(input.responses ?? [])];
  const client = {
    isInitialized: () => false,
    generateContent: async () => {
      const response = responses.shift();
      if (typeof response === 'string') throw new Error(response);
      return response;
    },
  };
  Object.defineProperty(config, 'geminiClient', { value: client });
  const bus = config.getMessageBus?.() ?? config.messageBus;
  const made = {};
  for (const name of new Set(input.calls.map(([each]) => each))) {
    const [file, kind, alone] = CLASSES[name];
    const module = await load(`tools/${file}`);
    made[name] = alone ? new module[kind](bus) : new module[kind](config, bus);
  }
  const answers = [];
  for (const each of input.calls) {
    const { signal } = new AbortController();
    answers.push(await play((name) => made[name], each, signal, input.corrections !== undefined));
  }
  const all = { answers, written: texts(root) };
  if (input.corrections) {
    all.asked = asked;
    all.answers = answers.map(({ llm, shown, error, fault }) => {
      const text = typeof shown === 'string' ? shown : null;
      return [llm ?? null, text, error ?? null, fault ?? null];
    });
  }
  const out = JSON.stringify(all);
  rmSync(top, { recursive: true });
  const masked = out.replaceAll(root, '<WS>').replaceAll(home, '<HOME>');
  return shortened(JSON.parse(masked.replaceAll(top, '<TOP>')));
}

export {
  calls as changing,
  calls as correcting,
  calls as edges,
  calls as editing,
  calls as files,
  calls as ignoring,
  calls as noting,
  calls as reading,
  calls as searching,
  calls as tracking,
  calls as websearching,
};

/** `[files, path, text]` => the text with its imports, and the tree of the folder `path`. */
export async function folders([files, folder, text], load) {
  const { processImports } = await load('utils/memoryImportProcessor.js');
  const { getFolderStructure } = await load('utils/getFolderStructure.js');
  const top = realpathSync(mkdtempSync(path.join(tmpdir(), 'parity-tools-')));
  lay(top, files);
  const at = path.join(top, folder);
  const read = await processImports(text, at);
  const out = JSON.stringify([read.content, await getFolderStructure(at)]);
  rmSync(top, { recursive: true });
  return JSON.parse(out.replaceAll(top, '<TOP>'));
}

/** The value of a member of an enumeration. */
export async function member([kind, name], load) {
  const { ToolErrorType } = await load('tools/tool-error.js');
  const { Kind, ToolConfirmationOutcome } = await load('tools/tools.js');
  return { ToolErrorType, Kind, ToolConfirmationOutcome }[kind][name];
}
