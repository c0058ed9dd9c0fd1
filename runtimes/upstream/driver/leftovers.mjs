// What a session leaves behind in the core's module-level state: taken away where the core lets us,
// named where it does not, so that the process is not used again.
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** Functions of the package that empty a cache or a singleton. A version may lack some. */
const RESETS = [
  ['clearEmittedPolicyWarnings'],
  ['clearOauthClientCache'],
  ['resetApiKeyCacheForTesting'],
  ['resetBrowserSession'],
  ['resetGeminiMdFilename'],
  ['resetModelsForTesting'],
  ['resetTrustedFoldersForTesting'],
  ['stopAdminControlsPolling'],
  ['uiTelemetryService', 'clear'],
  ['ideContextStore', 'clear'],
  ['mcpServerRequiresOAuth', 'clear'],
  ['DiscoveredMCPToolInvocation', 'allowlist', 'clear'],
  ['ShellExecutionService', 'resetForTest'],
  ['ExecutionLifecycleService', 'resetForTest'],
];
/** The same in modules that the package does not export. */
const DEEP_RESETS = [
  ['utils/editCorrector.js', 'resetEditCorrectorCaches_TEST_ONLY'],
  ['utils/llm-edit-fixer.js', 'resetLlmEditFixerCaches_TEST_ONLY'],
  ['agents/remote-invocation.js', 'RemoteAgentInvocation', 'sessionState', 'clear'],
  ['agents/remote-session-invocation.js', 'RemoteSessionInvocation', 'sessionState', 'clear'],
];
/** Settings that change what no function changes back. */
const LASTING_SETTINGS = ['proxy', 'enableConseca', 'experiments', 'usageStatisticsEnabled'];
/** Tools whose use is remembered for good: the requests per host and minute. */
const LASTING_TOOLS = new Set(['web_fetch']);

export class Leftovers {
  #resets;

  constructor(resets) {
    this.#resets = resets;
  }

  /** Find the resets of the package `core`, which lies in `folder`. */
  static async of(core, folder) {
    const found = RESETS.map((names) => bound(core, names));
    for (const [file, ...names] of DEEP_RESETS) {
      const url = pathToFileURL(path.join(folder, 'dist', 'src', file)).href;
      found.push(await import(url).then((module) => bound(module, names), () => undefined));
    }
    return new Leftovers(found.filter((reset) => reset !== undefined));
  }

  /** Take away what can be taken away. */
  async clear(core) {
    core.coreEvents.removeAllListeners();
    // Without a listener the backlog is dropped.
    core.coreEvents.drainBacklogs();
    for (const reset of this.#resets) await reset();
  }
}

/** Why a session with these settings, tools and declarations cannot be cleaned up after. */
export function lasting(settings, toolsUsed, declarations) {
  const why = LASTING_SETTINGS.filter((name) => settings[name]).map((name) => `setting ${name}`);
  if (settings.telemetry?.enabled) why.push('setting telemetry.enabled');
  why.push(...[...toolsUsed].filter((name) => LASTING_TOOLS.has(name)).map((name) => `tool ${name}`));
  // The core's validator never forgets a schema that has a name, and then skips validation.
  if (declarations.includes('"$id"')) why.push('a tool schema with $id');
  return why;
}

function bound(holder, names) {
  let owner;
  let value = holder;
  for (const name of names) {
    owner = value;
    value = value?.[name];
  }
  return typeof value === 'function' ? () => value.call(owner) : undefined;
}
