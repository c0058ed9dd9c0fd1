// One session of the core: its configuration, its agents, and what a client may do with it.
import fs from 'node:fs';
import path from 'node:path';
import { Checkpoints } from './checkpoints.mjs';
import { revertEdits } from './edits.mjs';
import { Questions } from './questions.mjs';
import { Steering } from './steering.mjs';

/** Parameters of cassettes that are not the core's. */
const NOT_THE_CORES = ['policyRules', 'policySettings', 'adk'];
/** Of the flags about runtimes, those that are the core's own too. */
const SHARED_FLAGS = ['agentSessionSubagentEnabled'];
const AUTH = 'gemini-api-key';

const plain = (value) => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

export class Session {
  #core;
  #channel;
  #setup;
  #config;
  #checkpoints;
  #perform;
  #agents = new Map();
  #questions;
  /** Present in interactive sessions. */
  #steering;
  /** Names of the tools that were called. */
  toolsUsed = new Set();

  constructor({ core, channel, perform }, setup) {
    this.#core = core;
    this.#channel = channel;
    this.#perform = perform;
    this.#setup = setup;
    this.#questions = new Questions(this.#core, channel);
  }

  /** The core's parameters that the session was opened with. */
  get settings() {
    return this.#setup.settings;
  }

  /** Build the configuration as the core's own users do, with `model` in the place of the API. */
  async open(model) {
    const { core } = this.#core;
    const setup = this.#setup;
    Object.keys(process.env).forEach((key) => delete process.env[key]);
    Object.assign(process.env, setup.environment, { GEMINI_API_KEY: 'replayed' });
    process.chdir(setup.workspace);
    // Policy files are read with the parameters, and what is wrong with them is reported there.
    this.#listen();
    const config = (this.#config = new core.Config(await this.#parameters()));
    this.#checkpoints = new Checkpoints(core, config);
    this.#follow();
    this.#questions.register(config, setup.questions);
    await config.refreshAuth(AUTH);
    delete process.env.GEMINI_API_KEY;
    config.contentGenerator = new core.LoggingContentGenerator(model, config);
    config.baseLlmClient = new core.BaseLlmClient(config.contentGenerator, config);
    core.createPolicyUpdater?.(config.getPolicyEngine(), config.getMessageBus(), config.storage);
    await config.initialize();
    if (setup.interactive) {
      this.#steering = new Steering(core, config);
      this.#steering.install();
    }
    return this.#begin();
  }

  agent({ agent, promptId }) {
    const { core } = this.#core;
    const session = new core.LegacyAgentSession({
      config: this.#config,
      ...(promptId === null ? {} : { promptId }),
    });
    session.subscribe((event) => {
      this.#perform(this.#channel.call({ t: 'event', agent, event }));
      if (event.type === 'agent_end') this.#reportKept();
    });
    this.#agents.set(agent, session);
  }

  async send({ agent, payload }) {
    const { streamId } = await this.#agents.get(agent).send(payload);
    return streamId ?? null;
  }

  abort({ agent }) {
    return this.#agents.get(agent).abort();
  }

  disableLoopDetection() {
    this.#client.getLoopDetectionService().disableForSession();
  }

  hint({ text, source }) {
    this.#config.injectionService.addInjection(text, source);
  }

  /** The prompt that an idle client makes of pending hints. */
  takeHints() {
    return this.#steering?.takePrompt() ?? null;
  }

  setModel({ model }) {
    this.#config.setModel(model);
  }

  setApprovalMode({ mode }) {
    this.#config.setApprovalMode(mode);
  }

  /** Leave plan mode as the command line's prompt does while no stream runs. */
  async leavePlanMode({ mode }) {
    const { core } = this.#core;
    const planning = this.#config.isPlanMode();
    this.#config.setApprovalMode(mode);
    if (!planning || this.#config.isPlanMode()) return;
    const text = core.getPlanModeExitMessage(mode, true);
    await this.#client.addHistory({ role: 'user', parts: [{ text }] });
  }

  setQuotaError() {
    this.#config.setQuotaErrorOccurred(true);
  }

  /** Start anew, as `/clear` does. */
  async reset() {
    const hooks = this.#config.getHookSystem();
    await hooks?.fireSessionEndEvent('clear');
    this.#config.injectionService.clear();
    await this.#client.resetChat();
    await hooks?.fireSessionStartEvent('clear');
  }

  async compress() {
    const promptId = `compress-${Date.now()}`;
    return plain(await this.#client.tryCompressChat(promptId, true));
  }

  /** Go on from a recording; without a name from this session's own. */
  async resume({ file }) {
    const { core } = this.#core;
    const filePath = file ?? this.#recording.getConversationFilePath();
    const conversation = await core.loadConversationRecord(filePath);
    if (!conversation) throw new Error(`${filePath} is not a chat recording`);
    const history = core.convertSessionToClientHistory(conversation.messages);
    await this.#client.resumeChat(history, { conversation, filePath });
  }

  /** Go back to before a message: its id, or its number among the user's own messages, from 0. */
  rewind({ to }) {
    const { core } = this.#core;
    const recording = this.#recording;
    const conversation = recording.rewindTo(this.#messageId(to));
    if (!conversation) throw new Error('there is nothing to rewind');
    this.#client.setHistory(core.convertSessionToClientHistory(conversation.messages));
    return { activeModel: this.#config.getActiveModel() };
  }

  /** Take back what tools did to files after a message, which is named as for `rewind`. */
  revert({ to }) {
    const { core } = this.#core;
    const { messages } = this.#recording.getConversation();
    revertEdits(this.#core, messages, this.#messageId(to), (severity, message) =>
      core.coreEvents.emitFeedback(severity, message),
    );
  }

  /** Restore a checkpoint: its name, or its number from 0. */
  async restore({ checkpoint }) {
    const restored = await this.#checkpoints.restore(checkpoint);
    return { ...restored, activeModel: this.#config.getActiveModel() };
  }

  async confirm({ correlationId, confirmed, outcome, payload }) {
    const { core } = this.#core;
    if (this.#checkpoints.saved) await this.#checkpoints.saved;
    return this.#config.getMessageBus().publish({
      type: core.MessageBusType.TOOL_CONFIRMATION_RESPONSE,
      correlationId,
      confirmed,
      requiresUserConfirmation: false,
      outcome: outcome ?? undefined,
      payload: payload ?? undefined,
    });
  }

  /** The user's answer to a question of the core. */
  reply(message) {
    this.#questions.reply(message);
  }

  transcript() {
    return plain(this.#client.getHistory());
  }

  /** End the session; what it started is ended by the caller. */
  async close() {
    await this.#config?.getHookSystem()?.fireSessionEndEvent('exit');
    await this.#config?.dispose();
  }

  /** Fire SessionStart as the command line tool does; returns what the hooks said. */
  async #begin() {
    const said = await this.#config.getHookSystem()?.fireSessionStartEvent(this.#setup.start);
    const added = said?.getAdditionalContext();
    const context = added ? `<hook_context>${added}</hook_context>` : null;
    if (context !== null && this.#setup.interactive) {
      await this.#client.addHistory({ role: 'user', parts: [{ text: context }] });
    }
    return { message: said?.systemMessage ?? null, context };
  }

  get #client() {
    return this.#config.getGeminiClient();
  }

  get #recording() {
    return this.#client.getChatRecordingService();
  }

  #messageId(to) {
    if (typeof to !== 'number') return to;
    const { messages } = this.#recording.getConversation();
    return messages.filter(({ type }) => type === 'user')[to]?.id;
  }

  async #parameters() {
    const { core } = this.#core;
    const { sessionId, workspace, model, approvalMode, interactive, settings } = this.#setup;
    const own = Object.entries(settings).filter(([key]) => !NOT_THE_CORES.includes(key));
    // Which servers are trusted is a matter of policy, as the command line tool sets things up.
    const { mcpServers, policyPaths, adminPolicyPaths, workspacePoliciesDir } = settings;
    const policy = await core.createPolicyEngineConfig(
      { mcpServers, policyPaths, adminPolicyPaths, workspacePoliciesDir, ...settings.policySettings },
      approvalMode,
      undefined,
      interactive,
    );
    policy.rules.push(...(settings.policyRules ?? []).map(asRule));
    policy.nonInteractive = !interactive;
    return {
      sessionId,
      targetDir: workspace,
      cwd: workspace,
      debugMode: false,
      model,
      approvalMode,
      interactive,
      folderTrust: true,
      trustedFolder: true,
      useRipgrep: false,
      usageStatisticsEnabled: false,
      telemetry: { enabled: false },
      skipNextSpeakerCheck: true,
      maxSessionTurns: -1,
      policyEngineConfig: policy,
      ...Object.fromEntries(own),
      adk: picked(settings.adk ?? {}, SHARED_FLAGS),
    };
  }

  /** Pass on what the core announces. */
  #listen() {
    const { core } = this.#core;
    const notify = (name) => (payload) =>
      this.#channel.send({
        t: 'notice',
        name,
        payload: plain(payload),
        insideCall: this.#core.toolCall() ?? null,
      });
    for (const name of ['RetryAttempt', 'ModelChanged', 'ApprovalModeChanged', 'UserFeedback']) {
      if (core.CoreEvent[name] !== undefined) core.coreEvents.on(core.CoreEvent[name], notify(name));
    }
  }

  /** Follow the tool calls. */
  #follow() {
    const { core } = this.#core;
    const { TOOL_CALLS_UPDATE } = core.MessageBusType;
    this.#config.getMessageBus().subscribe(TOOL_CALLS_UPDATE, (update) => {
      for (const call of update.toolCalls) this.toolsUsed.add(call.request.name);
      this.#checkpoints.note(update.toolCalls);
      this.#channel.send({
        t: 'calls',
        scheduler: String(update.schedulerId),
        calls: update.toolCalls.map(shown),
      });
    });
  }

  #reportKept() {
    const texts = this.#steering?.pending ?? [];
    if (texts.length === 0) return;
    this.#channel.send({ t: 'notice', name: 'HintsKept', payload: { texts }, insideCall: null });
  }
}

function picked(values, names) {
  return Object.fromEntries(names.filter((name) => name in values).map((name) => [name, values[name]]));
}

function asRule({ argsPattern, ...rule }) {
  return argsPattern === undefined ? rule : { ...rule, argsPattern: new RegExp(argsPattern) };
}

/** What an observer may know of a tool call. */
function shown(call) {
  const { confirmationDetails, correlationId, request, status } = call;
  return {
    callId: request.callId,
    name: request.name,
    status,
    parentCallId: request.parentCallId ?? null,
    correlationId: correlationId ?? null,
    confirmation:
      status === 'awaiting_approval' && confirmationDetails ? plain(confirmationDetails) : null,
    ...(status === 'executing' ? whileExecuting(call) : {}),
  };
}

function whileExecuting({ liveOutput, pid, progress, progressTotal, progressPercent, progressMessage }) {
  return {
    liveOutput: plain(liveOutput) ?? null,
    pid: pid ?? null,
    progress:
      progress === undefined
        ? null
        : {
            done: progress,
            total: progressTotal ?? null,
            percent: progressPercent ?? null,
            message: progressMessage ?? null,
          },
  };
}
