// The core's half of the subjects of retrying.py.
import { accessOf, errorOf, setNames } from './about_models.mjs';

// A function that gives its answers one after the other, and notes how it is called.
function answering(answers, note) {
  if (answers === undefined) return undefined;
  let place = 0;
  return async (...given) => {
    note(...given);
    const answer = answers[Math.min(place++, answers.length - 1)];
    if (answer === 'raises') throw new Error('the handler failed');
    return answer;
  };
}

export async function retries(input, load) {
  const { retryWithBackoff } = await load('utils/retry.js');
  const seen = [];
  const stop = new AbortController();
  const real = { setTimeout, random: Math.random, env: { ...process.env } };
  const numbers = input.random ?? [0.5];
  let drawn = 0;
  let waits = 0;
  let calls = 0;
  Math.random = () => numbers[drawn++ % numbers.length];
  globalThis.setTimeout = (run, ms) => {
    seen.push(['wait', ms]);
    waits += 1;
    queueMicrotask(waits === input.abortedWait ? () => stop.abort() : run);
    return 0;
  };
  for (const name of ['GOOGLE_CLOUD_PROJECT', 'GOOGLE_CLOUD_PROJECT_ID']) delete process.env[name];
  Object.assign(process.env, input.variables ?? {});
  if (input.aborted) stop.abort();
  const limits = input.limits;
  try {
    const value = await retryWithBackoff(
      async () => {
        const about = input.outcomes[Math.min(calls, input.outcomes.length - 1)];
        calls += 1;
        seen.push(['call']);
        if (calls === input.abortedCall) stop.abort();
        if (about.value !== undefined) return about.value;
        throw await errorOf(about);
      },
      {
        ...(input.most === undefined ? {} : { maxAttempts: input.most }),
        retryFetchErrors: input.fetchErrors ?? true,
        authType: input.auth,
        signal: stop.signal,
        shouldRetryOnContent: (value) => value === 'bad',
        onPersistent429: answering(input.fallback, (auth, error) => seen.push(['fallback', error.name])),
        onValidationRequired: answering(input.validation, (error) => seen.push(['validate', error.name])),
        onRetry: (attempt, error, ms) => seen.push(['retry', attempt, error.message, ms]),
        ...(limits === undefined ? {} : {
          getAvailabilityContext: () => ({
            policy: { model: 'm', maxAttempts: limits[Math.min(waits, limits.length - 1)] ?? undefined },
            service: { markHealthy: (model) => seen.push(['healthy', model]) },
          }),
        }),
      },
    );
    return { seen, value };
  } catch (error) {
    return {
      seen, error: error.name, message: error.message, handled: error.userHandled ?? false,
      delay: error.retryDelayMs ?? null,
    };
  } finally {
    globalThis.setTimeout = real.setTimeout;
    Math.random = real.random;
    for (const name of Object.keys(process.env)) if (!(name in real.env)) delete process.env[name];
  }
}

export async function play(input, load) {
  const models = await load('config/models.js');
  const { Config } = await load('config/config.js');
  const { handleFallback } = await load('fallback/handler.js');
  const { classifyGoogleError } = await load('utils/googleQuotaErrors.js');
  const { applyModelSelection, createAvailabilityContextProvider } = await load('availability/policyHelpers.js');
  const { ModelAvailabilityService } = await load('availability/modelAvailabilityService.js');
  const { ModelConfigService } = await load('services/modelConfigService.js');
  const { DEFAULT_MODEL_CONFIGS } = await load('config/defaultModelConfigs.js');
  setNames(models, input.flags);
  const health = new ModelAvailabilityService();
  let seen = [];
  let rotated = 0;
  const own = Config.prototype;
  const config = {
    model: input.model,
    _activeModel: input.model,
    fallbackOverrides: new Map(),
    modelAvailabilityService: health,
    modelConfigService: new ModelConfigService(DEFAULT_MODEL_CONFIGS),
    getModel: own.getModel,
    getActiveModel: own.getActiveModel,
    setModel: own.setModel,
    setActiveModel: own.setActiveModel,
    activateFallbackMode: own.activateFallbackMode,
    resetTurn: own.resetTurn,
    emitQuotaChangedEvent: () => {},
    getContentGeneratorConfig: () => undefined,
    rotateSessionId: () => { rotated += 1; },
    getModelAvailabilityService: () => health,
    ...accessOf(input.flags),
    getApprovalMode: () => input.mode ?? 'default',
    getExperimentalDynamicModelConfiguration: () => false,
    getFallbackModelHandler: () => input.answers === undefined ? undefined
      : async (failed, fallback, error) => {
        seen.push([failed, fallback, error.name]);
        const answer = input.answers[answered++ % input.answers.length];
        if (answer === 'raises') throw new Error('the handler failed');
        return answer ?? undefined;
      },
  };
  let answered = 0;
  const taken = [];
  for (const [what, ...given] of input.steps) {
    seen = [];
    let answer = null;
    if (what === 'fail') {
      answer = await handleFallback(config, given[0], undefined, classifyGoogleError(await errorOf(given[1])));
    } else if (what === 'apply') {
      const found = applyModelSelection(config, given[0], { consumeAttempt: given[1] });
      answer = [found.model, found.config, found.maxAttempts ?? null];
    } else if (what === 'context') {
      const found = createAvailabilityContextProvider(config, () => given[0])();
      answer = found ? [found.policy.model, found.policy.maxAttempts ?? null] : null;
    } else if (what === 'healthy') {
      health.markHealthy(given[0]);
    } else {
      config[what](...given);
    }
    taken.push({
      answer: answer ?? null,
      asked: seen,
      rotated,
      models: [config.getModel(), config.getActiveModel()],
      health: input.shown.map((model) => {
        const { available, reason } = health.snapshot(model);
        return [available, reason ?? null];
      }),
      resolved: input.shown.map((model) => config.modelConfigService.getResolvedConfig({ model }).model),
    });
  }
  models.resetModelsForTesting();
  return taken;
}
