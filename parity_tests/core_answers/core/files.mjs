// The core's half of the subjects of files.py.
import { Buffer } from 'node:buffer';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { lay, shortened } from './tools.mjs';

async function inFolder(use) {
  const top = realpathSync(mkdtempSync(path.join(tmpdir(), 'parity-files-')));
  try {
    return await use(top);
  } finally {
    rmSync(top, { recursive: true });
  }
}

/** `[[name, base64], …]` => the kind of each file, whether it is binary, its text and its type. */
export function kind(files, load) {
  return inFolder(async (top) => {
    const utils = await load('utils/fileUtils.js');
    const answers = [];
    for (const [name, data] of files) {
      const file = path.join(top, name);
      writeFileSync(file, Buffer.from(data, 'base64'));
      const found = await utils.detectFileType(file);
      const text = await utils.readFileWithEncoding(file);
      const read = await utils.processSingleFileContent(file, top);
      const type = read.llmContent?.inlineData?.mimeType ?? null;
      answers.push([found, await utils.isBinaryFile(file), text, type]);
      unlinkSync(file);
    }
    return answers;
  });
}

function flags([git, gemini]) {
  const options = {};
  if (git !== null) options.respectGitIgnore = git;
  if (gemini !== null) options.respectGeminiIgnore = gemini;
  return options;
}

/** `{files, root, default, paths}` => whether each path is ignored; those that are not. */
export function ignored(input, load) {
  return inFolder(async (top) => {
    const { FileDiscoveryService } = await load('services/fileDiscoveryService.js');
    const root = path.join(top, input.root);
    mkdirSync(root, { recursive: true });
    lay(top, input.files);
    const service = new FileDiscoveryService(root, flags(input.default));
    const answers = input.paths.map(([each, isDirectory, ...given]) => {
      const full = each.replaceAll('<TOP>', top);
      return isDirectory
        ? service.shouldIgnoreDirectory(full, flags(given))
        : service.shouldIgnoreFile(full, flags(given));
    });
    const names = input.paths.map(([each]) => each.replaceAll('<TOP>', top));
    const files = names.filter((each) => !each.endsWith('/'));
    const { filteredPaths, ignoredCount } = service.filterFilesWithReport(files, {});
    return [answers, filteredPaths.map((each) => each.replaceAll(top, '<TOP>')), ignoredCount];
  });
}

/** `{files, root, added, trusted, extensions, steps}` => what each step gives, and all memory. */
export function memory(input, load) {
  return inFolder(async (top) => {
    process.env.GEMINI_CLI_HOME = path.join(top, 'home');
    lay(top, input.files);
    const root = path.join(top, input.root);
    mkdirSync(root, { recursive: true });
    const roots = [root, ...input.added.map((each) => path.join(top, each))];
    const { MemoryContextManager } = await load('context/memoryContextManager.js');
    const contextFiles = input.extensions.map((each) => path.join(top, each));
    const loader = { getExtensions: () => [{ isActive: true, contextFiles }] };
    const temp = path.join(top, 'home', '.gemini', 'tmp', path.basename(root));
    const manager = new MemoryContextManager({
      getExtensionLoader: () => loader,
      isTrustedFolder: () => input.trusted,
      getWorkspaceContext: () => ({ getDirectories: () => roots }),
      getMemoryBoundaryMarkers: () => ['.git'],
      storage: { getProjectMemoryDir: () => path.join(temp, 'memory') },
      getImportFormat: () => 'tree',
      getMcpClientManager: () => undefined,
    });
    await manager.refresh();
    let began = manager.getLoadedPaths().size;
    const answers = [];
    for (const step of input.steps) {
      let said = null;
      if (step === null) {
        await manager.refresh();
        began = manager.getLoadedPaths().size;
      } else if (typeof step === 'object') lay(top, step);
      else said = await manager.discoverContext(path.join(top, step), roots);
      answers.push([said, manager.getLoadedPaths().size]);
    }
    answers.push([
      manager.getGlobalMemory(),
      manager.getExtensionMemory(),
      manager.getEnvironmentMemory(),
    ]);
    answers.push([...manager.getLoadedPaths()].sort());
    answers.push([manager.getUserProjectMemory(), began]);
    return JSON.parse(JSON.stringify(answers).replaceAll(top, '<TOP>'));
  });
}

function many(counts) {
  const files = {};
  for (const [name, count] of Object.entries(counts)) {
    for (let number = 0; number < count; number += 1) {
      const whole = name.replace('%', String(number).padStart(3, '0'));
      files[whole.replace(/\/$/, '')] = whole.endsWith('/') ? null : '';
    }
  }
  return files;
}

/** `{files, many, ignoring}` => the lines of the drawing, whether it is cut, and its limit. */
export function tree(input, load) {
  return inFolder(async (top) => {
    lay(top, { ...input.files, ...many(input.many) });
    const { getFolderStructure } = await load('utils/getFolderStructure.js');
    const { FileDiscoveryService } = await load('services/fileDiscoveryService.js');
    const fileService = input.ignoring ? new FileDiscoveryService(top) : undefined;
    const drawn = await getFolderStructure(top, { fileService });
    const [summary, lines] = drawn.split(`\n\n${top}${path.sep}\n`);
    const most = Number(/up to (\d+) items/.exec(summary)[1]);
    const rows = lines === '' ? [] : lines.split('\n');
    return [shortened(rows), summary.includes('limit'), most];
  });
}

/** `{files, added, paths}` => why tools may not use each path, or null. */
export function access(input, load) {
  return inFolder(async (top) => {
    const root = path.join(top, 'ws');
    mkdirSync(root);
    mkdirSync(path.join(top, 'home'));
    process.env.GEMINI_CLI_HOME = path.join(top, 'home');
    lay(top, input.files);
    const { Config } = await load('config/config.js');
    const config = new Config({
      sessionId: '5e551011-0000-4000-8000-000000000000',
      targetDir: root,
      cwd: root,
      model: 'gemini-2.5-pro',
      debugMode: false,
      interactive: false,
      trustedFolder: true,
      usageStatisticsEnabled: false,
    });
    await config.storage.initialize();
    for (const each of input.added) config.getWorkspaceContext().addDirectory(path.join(top, each));
    return input.paths.map((each) => {
      const parts = Array.isArray(each) ? each : [[each, 1]];
      const whole = parts.map(([text, times]) => text.repeat(times)).join('');
      const fault = config.validatePathAccess(whole.replaceAll('<TOP>', top));
      return fault === null ? null : fault.replaceAll(top, '<TOP>');
    });
  });
}
