// The core's half of the subjects of hook_settings.py.

// What a timer of node makes of these milliseconds.
function timed(milliseconds) {
  const timer = setTimeout(() => {}, milliseconds);
  const limit = timer._idleTimeout;
  clearTimeout(timer);
  return limit;
}

// What the registry notes in its log is what it refuses; its warnings to the user are heard.
export async function registered(asked, load) {
  const { HookRegistry } = await load('hooks/hookRegistry.js');
  const { getHookKey } = await load('hooks/types.js');
  const { debugLogger } = await load('utils/debugLogger.js');
  const { coreEvents } = await load('utils/events.js');
  let refused = false;
  const unknown = [];
  const { warn } = debugLogger;
  const hear = ({ message }) => unknown.push(/"(.*)"/s.exec(message)[1]);
  debugLogger.warn = () => { refused = true; };
  coreEvents.on('user-feedback', hear);
  const registry = new HookRegistry({
    isTrustedFolder: () => true,
    getProjectHooks: () => undefined,
    getHooks: () => asked,
    getExtensions: () => [],
    getDisabledHooks: () => [],
  });
  await registry.initialize();
  coreEvents.off('user-feedback', hear);
  debugLogger.warn = warn;
  if (refused) return { refused };
  const hooks = registry.getAllHooks().map((entry) => {
    const { config, eventName, matcher, sequential } = entry;
    const timeout = config.timeout ?? 60000;
    return [
      eventName, matcher || null, sequential === true, config.command, config.name ?? '',
      registry.getHookName(entry), getHookKey(config), timeout,
      timed(timeout), config.env ?? {},
    ];
  });
  return { refused, hooks, unknown };
}
