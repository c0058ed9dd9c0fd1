// The core's half of the subjects of state.py: methods of its configuration, on little more than
// the fields that they read.

export async function play(asked, load) {
  const { Config } = await load('config/config.js');
  const { CoreEvent, coreEvents } = await load('utils/events.js');
  let mode = asked.mode;
  let sequence = null;
  let breaks = 0;
  let heard = [];
  const config = Object.assign(Object.create(Config.prototype), {
    model: asked.model,
    _activeModel: asked.model,
    quotaErrorOccurred: false,
    isTrustedFolder: () => asked.trusted,
    policyEngine: {
      getApprovalMode: () => mode,
      setApprovalMode: (next) => {
        mode = next;
      },
    },
    geminiClient: {
      isInitialized: () => true,
      clearCurrentSequenceModel: () => {
        sequence = null;
        breaks += 1;
      },
      setTools: async () => {},
    },
    modelAvailabilityService: { reset() {} },
    refreshSandboxManager() {},
    emitQuotaChangedEvent() {},
    logCurrentModeDuration() {},
    updateSystemInstructionIfInitialized() {},
    getSessionId: () => 's',
    getUsageStatisticsEnabled: () => false,
    getTelemetryEnabled: () => false,
    getTelemetryTracesEnabled: () => false,
  });
  // The core's client forgets the model of a sequence when it hears of another model.
  const forget = () => {
    sequence = null;
  };
  coreEvents.on(CoreEvent.ModelChanged, forget);
  const listeners = {};
  const off = (name) => {
    coreEvents.off(CoreEvent.ModelChanged, listeners[name]?.model ?? forget);
    coreEvents.off(CoreEvent.ApprovalModeChanged, listeners[name]?.mode ?? forget);
  };
  const steps = {
    model: (name) => config.setModel(name),
    active: (name) => config.setActiveModel(name),
    sequence: (name) => {
      sequence = name;
    },
    quota: () => config.setQuotaErrorOccurred(true),
    listen: (name) => {
      listeners[name] = {
        model: (event) => heard.push([name, 'model', event.model]),
        mode: (event) => heard.push([name, 'mode', event.mode]),
      };
      coreEvents.on(CoreEvent.ModelChanged, listeners[name].model);
      coreEvents.on(CoreEvent.ApprovalModeChanged, listeners[name].mode);
    },
    off,
    mode: (next) => config.setApprovalMode(next),
  };
  try {
    return asked.steps.map(([step, given]) => {
      heard = [];
      let refused = null;
      try {
        steps[step](given);
      } catch (error) {
        refused = error.message;
      }
      return [refused, config.getModel(), config.getActiveModel(), sequence, config.getApprovalMode(),
        breaks, config.getQuotaErrorOccurred(), heard];
    });
  } finally {
    Object.keys(listeners).forEach(off);
    coreEvents.off(CoreEvent.ModelChanged, forget);
  }
}
