// The core's half of the subjects of model.py.
import { accessOf, errorOf, setNames } from './about_models.mjs';

export async function names({ model, flags: [launched, custom, preview, flash, lite] }, load) {
  const models = await load('config/models.js');
  const { tokenLimit } = await load('core/tokenLimits.js');
  const { normalizeModelId } = await load('utils/modelUtils.js');
  const { modelStringToModelConfigAlias } = await load('context/chatCompressionService.js');
  const classified = (tier) =>
    models.resolveClassifierModel(model, tier, launched, custom, preview, undefined, flash, lite);
  return {
    resolved: models.resolveModel(model, launched, custom, preview, undefined, flash, lite),
    classified: [classified('flash'), classified('pro'), classified('other')],
    shown: models.getDisplayString(model),
    is: [
      models.isAutoModel(model), models.isPreviewModel(model), models.isGemini3Model(model),
      models.isGemini2Model(model), models.isCustomModel(model),
      models.supportsModernFeatures(model),
    ],
    limit: tokenLimit(model),
    normal: normalizeModelId(model),
    compression: modelStringToModelConfigAlias(model),
  };
}

export async function tokens(parts, load) {
  const { estimateTokenCountSync } = await load('utils/tokenCalculation.js');
  // A text [t, n] is t, n times.
  const whole = ({ text, ...part }) =>
    text === undefined ? part : { ...part, text: Array.isArray(text) ? text[0].repeat(text[1]) : text };
  return estimateTokenCountSync(parts.map(whole));
}

export async function parts(asked, load) {
  const { getResponseText, partToString } = await load('utils/partUtils.js');
  const { parseThought } = await load('utils/thoughtUtils.js');
  const { getFunctionCalls } = await load('utils/generateContentResponseUtilities.js');
  const shown = [partToString(asked), partToString(asked, { verbose: true })];
  if (typeof asked === 'string') {
    const { subject, description } = parseThought(asked);
    return [...shown, [subject, description]];
  }
  if (!Array.isArray(asked)) return shown;
  const response = { candidates: [{ content: { role: 'model', parts: asked } }] };
  return [...shown, getResponseText(response), getFunctionCalls(response) ?? []];
}

export async function classified(about, load) {
  const { classifyGoogleError } = await load('utils/googleQuotaErrors.js');
  const error = await errorOf(about);
  const found = classifyGoogleError(error);
  return {
    same: found === error,
    name: found.name,
    message: found.message,
    delay: found.retryDelayMs ?? null,
    reason: found.reason ?? null,
    status: found.status ?? found.code ?? null,
    link: found.validationLink ?? null,
    words: found.validationDescription ?? null,
    more: found.learnMoreUrl ?? null,
  };
}

export async function retryable(about, load) {
  const { getRetryErrorType, isRetryableError } = await load('utils/retry.js');
  const error = await errorOf(about);
  return [isRetryableError(error, false), isRetryableError(error, true), getRetryErrorType(error)];
}

export async function health(calls, load) {
  const { ModelAvailabilityService } = await load('availability/modelAvailabilityService.js');
  const service = new ModelAvailabilityService();
  const real = Date.now;
  let now = 1000;
  Date.now = () => now;
  try {
    return calls.map(([what, ...given]) => {
      if (what === 'wait') now += given[0];
      else if (what === 'select') {
        const { selectedModel, attempts } = service.selectFirstAvailable(given[0]);
        return [selectedModel, attempts ?? null];
      } else if (what === 'snapshot') {
        const { available, reason } = service.snapshot(given[0]);
        return [available, reason ?? null];
      } else service[what](...given);
      return null;
    });
  } finally {
    Date.now = real;
  }
}

export async function chain(input, load) {
  const models = await load('config/models.js');
  const { resolvePolicyChain, buildFallbackPolicyContext } = await load('availability/policyHelpers.js');
  const { ModelConfigService } = await load('services/modelConfigService.js');
  const { DEFAULT_MODEL_CONFIGS } = await load('config/defaultModelConfigs.js');
  setNames(models, input.flags);
  const config = {
    getModel: () => input.model,
    getActiveModel: () => input.active ?? input.model,
    ...accessOf(input.flags),
    getApprovalMode: () => input.mode ?? 'default',
    getExperimentalDynamicModelConfiguration: () => input.dynamic ?? false,
    modelConfigService: new ModelConfigService(DEFAULT_MODEL_CONFIGS),
  };
  const found = resolvePolicyChain(config, input.preferred);
  const { failedPolicy, candidates } = buildFallbackPolicyContext(found, input.failed);
  models.resetModelsForTesting();
  return {
    chain: found.map((each) => ({
      model: each.model,
      actions: each.actions,
      transitions: each.stateTransitions,
      last: each.isLastResort ?? false,
      attempts: each.maxAttempts ?? null,
    })),
    failed: failedPolicy?.model ?? null,
    candidates: candidates.map((each) => each.model),
  };
}

export async function config({ aliases, overrides, later, more, keys }, load) {
  const { ModelConfigService } = await load('services/modelConfigService.js');
  const { DEFAULT_MODEL_CONFIGS } = await load('config/defaultModelConfigs.js');
  const service = new ModelConfigService({
    ...DEFAULT_MODEL_CONFIGS, customAliases: aliases, customOverrides: overrides,
  });
  for (const [name, alias] of Object.entries(later)) service.registerRuntimeModelConfig(name, alias);
  for (const each of more) service.registerRuntimeModelOverride(each);
  return keys.map((key) => {
    try {
      const { model, generateContentConfig } = service.getResolvedConfig(key);
      return [model, generateContentConfig];
    } catch (error) {
      return [error.message];
    }
  });
}

export async function tables({ ids, tiers, chains, context, flags, settings }, load) {
  const { ModelConfigService } = await load('services/modelConfigService.js');
  const models = await load('config/models.js');
  const { DEFAULT_MODEL_CONFIGS } = await load('config/defaultModelConfigs.js');
  const added = Object.entries(settings).map(([key, more]) => [key, { ...DEFAULT_MODEL_CONFIGS[key], ...more }]);
  const service = new ModelConfigService({ ...DEFAULT_MODEL_CONFIGS, ...Object.fromEntries(added) });
  const [launched, custom, preview, flash, lite] = flags;
  const config = {
    getExperimentalDynamicModelConfiguration: () => true,
    modelConfigService: service,
    hasLatestFlashGAAccess: () => flash,
    hasLatestFlashLiteGAAccess: () => lite,
  };
  const last = [config, flash, lite];
  const given = {
    useGemini3_1: launched, useCustomTools: custom, useLatestFlash: flash, useLatestFlashLite: lite,
  };
  return {
    ids: ids.map((id) => service.resolveModelId(id, context)),
    concrete: ids.map((id) => models.resolveModel(id, launched, custom, preview, ...last)),
    tiers: ids.flatMap((id) => tiers.map(
      (tier) => models.resolveClassifierModel(id, tier, launched, custom, preview, ...last))),
    auto: ids.map((id) => models.isAutoModel(id, config)),
    gemini3: ids.map((id) => models.isGemini3Model(id, config)),
    chains: chains.map((name) => service.resolveChain(name, given) ?? null),
  };
}
