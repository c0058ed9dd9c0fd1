// The core's half of the subjects of hook_session.py.
import child_process from 'node:child_process';
import { createHash } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';

const OWN = /^(GEMINI_|CLAUDE_|OWN)/;

/** A child that prints what `said` has for the first word of its command. */
function child(said, command) {
  const made = new EventEmitter();
  made.stdout = new EventEmitter();
  made.stderr = new EventEmitter();
  made.stdin = Object.assign(new EventEmitter(), {
    write: (text) => (made.given = text),
    end: () => {},
  });
  const [stdout, stderr, code] = said[command.split(' ')[0]] ?? ['', '', 0];
  setImmediate(() => {
    if (code === 'missing') return made.emit('error', new Error('ENOENT'));
    if (stdout) made.stdout.emit('data', Buffer.from(stdout));
    if (stderr) made.stderr.emit('data', Buffer.from(stderr));
    return made.emit('close', code);
  });
  return made;
}

export async function play({ hooks, extension, disabled, trusted, said, steps }, load) {
  const { HookSystem } = await load('hooks/hookSystem.js');
  const { coreEvents } = await load('utils/events.js');
  let seen = [];
  let ran = false; // The first run is shown whole, later ones by digests.
  const { spawn } = child_process;
  child_process.spawn = (_, [, command], { env, cwd }) => {
    const made = child(said, command);
    const own = Object.fromEntries(Object.entries(env).filter(([name]) => OWN.test(name)));
    made.stdin.end = () => {
      const digest = createHash('sha256').update(made.given).digest('hex').slice(0, 12);
      seen.push(['run', command, ...(ran ? [digest] : [made.given, own, cwd])]);
      ran = true;
    };
    return made;
  };
  syncBuiltinESMExports();
  const env = process.env;
  process.env = {};
  const date = Date.prototype.toISOString;
  Date.prototype.toISOString = () => '1970-01-01T00:00:00.000Z';
  const config = new Proxy(
    {
      getHooks: () => hooks,
      getDisabledHooks: () => disabled,
      isTrustedFolder: () => trusted,
      getExtensions: () => [{ name: 'e', isActive: true, hooks: extension }],
      getSessionId: () => 's',
      getWorkingDir: () => '/w x',
      storage: { getPlansDir: () => '/plans' },
      sanitizationConfig: {},
    },
    { get: (own, key) => own[key] ?? (() => undefined) },
  );
  const context = new Proxy(
    { config },
    { get: (own, key) => own[key] ?? (key === 'geminiClient' ? undefined : config[key]) },
  );
  coreEvents.emitFeedback = (severity, message) => seen.push(['feedback', severity, message]);
  coreEvents.emitHookStart = (each) =>
    seen.push(['start', each.hookName, each.source, each.hookIndex, each.totalHooks]);
  coreEvents.emitHookEnd = (each) => seen.push(['end', each.hookName, each.success]);
  coreEvents.emitHookSystemMessage = (each) => seen.push(['says', each.hookName, each.message]);
  const system = new HookSystem(context);
  const requests = {};
  const answers = [];
  const read = (output) =>
    output && [output.shouldStopExecution(), output.getBlockingError().blocked];
  for (const [method, ...given] of steps) {
    seen = [];
    let output;
    if (method === 'initialize') await system.initialize();
    else if (method === 'enable') system.setHookEnabled(...given);
    else if (method === 'session_start') output = await system.fireSessionStartEvent(...given);
    else if (method === 'session_end') await system.fireSessionEndEvent(...given);
    else if (method === 'pre_compress')
      await system.firePreCompressEvent(given[0] ? 'manual' : 'auto');
    else if (method === 'before_agent') output = await system.fireBeforeAgentEvent(...given);
    else if (method === 'after_agent') output = await system.fireAfterAgentEvent(...given);
    else if (method === 'before_tool')
      output = await system.fireBeforeToolEvent(given[0], given[1], given[2] ?? undefined, given[3]);
    else if (method === 'after_tool')
      output = await system.fireAfterToolEvent(
        given[0],
        given[1],
        given[4],
        given[2] ?? undefined,
        given[3],
      );
    else if (method === 'permission') await system.fireToolNotificationEvent(given[0]);
    else if (method === 'before_model') await system.fireBeforeModelEvent(given[0]);
    else if (method === 'before_tool_selection') await system.fireBeforeToolSelectionEvent(given[0]);
    else {
      requests[given[0]] ??= { model: given[0], contents: [], config: {} };
      await system.fireAfterModelEvent(requests[given[0]], given[1]);
    }
    answers.push([
      seen,
      read(output) ?? null,
      method === 'enable' || method === 'initialize'
        ? system.getAllHooks().map((each) => [each.eventName, each.config.command, each.enabled])
        : null,
    ]);
  }
  child_process.spawn = spawn;
  syncBuiltinESMExports();
  process.env = env;
  Date.prototype.toISOString = date;
  return JSON.parse(JSON.stringify(answers));
}

export { play as tools };
