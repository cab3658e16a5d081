import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import { manifestFiles } from '#shared/local';
import { bundleSettings, packagesOf } from '../build/bundle.ts';
import { loadBuiltinsLazily, loadProxiesLazily, removeUnusedCode, removeVerifiers } from '../build/lean.ts';
import { inlineShippedFiles } from '../build/shipped-files.ts';

/** A program as a single script for a Node single executable application, which supports neither ES modules nor files beside it. */
export interface ExecutableSource {
  script: string;
  /** Files that it reads, by path: the script unpacks them. */
  files: Readonly<Record<string, string>>;
  /** True if lmdb's addon is an asset of that name. */
  hasAddon: boolean;
  /** Folders of the bundled packages. */
  packages: string[];
}

export const executables = ['arcctl', 'arc-transfer', 'arc-standalone'] as const;
export type Executable = (typeof executables)[number];

/** The environment variable that selects another program of the standalone's executable, and its value for the worker. */
const programVariable = 'ARC_PROGRAM';
const workerProgram = 'transfer-worker';

/** Node loads an addon only from a file: the unpacked one replaces the one beside lmdb's sources. */
const unpackedAddon: Plugin = {
  name: 'unpacked-addon',
  setup(build) {
    build.onLoad({ filter: /[\\/]lmdb[\\/]native\.js$/ }, async ({ path: file }) => {
      const source = await readFile(file, 'utf8');
      const loading = 'loadNAPI(dirName)';
      if (!source.includes(loading))
        throw new Error(`${file} does not load its addon as expected: adapt ${import.meta.filename}`);
      return { contents: source.replace(loading, () => "require(__tree + '/lmdb.node')"), loader: 'js' };
    });
  },
};

/** Node's built-in modules that a script imports dynamically, which is not supported in a single executable. */
const dynamicBuiltins: Plugin = {
  name: 'dynamic-builtins',
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ path: name, kind }) =>
      kind === 'dynamic-import' ? { path: name, namespace: 'dynamic-builtin' } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'dynamic-builtin' }, ({ path: name }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(name)});`,
    }));
  },
};

/** Builds the script of a program and lists its files. */
export async function executableSource(name: Executable): Promise<ExecutableSource> {
  if (name !== 'arc-standalone') {
    const { script, metafile } = await scriptOf(`scripts/${name}/main.ts`);
    return { script: `${head}${script}`, files: {}, hasAddon: false, packages: packagesOf(metafile) };
  }
  const [standalone, worker] = await Promise.all([
    scriptOf('scripts/start.ts'),
    scriptOf('functions/transfer-worker/main.ts'),
  ]);
  const choose = `if (process.env.${programVariable} === '${workerProgram}') ${worker.script} else ${standalone.script}`;
  return {
    script: `${head}${unpack}${choose}`,
    files: await treeFiles(),
    hasAddon: true,
    packages: [...packagesOf(standalone.metafile), ...packagesOf(worker.metafile)],
  };
}

const head = `const __module = process.getBuiltinModule('node:module');
const __url = process.getBuiltinModule('node:url').pathToFileURL(process.execPath).href;
`;

/**
 * Unpacks the files in the user's cache folder under their content digest, or for this process only if the folder is not writable. Not under a
 * fixed name in the temporary folder: other users can write there, and the files are executed.
 */
const unpack = `const __tree = (() => {
  const [fs, os, path, sea] = ['fs', 'os', 'path', 'sea'].map((name) => process.getBuiltinModule('node:' + name));
  const write = (folder) => {
    for (const [name, text] of Object.entries(JSON.parse(sea.getAsset('files.json', 'utf8')))) {
      fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
      fs.writeFileSync(path.join(folder, name), text);
    }
    fs.writeFileSync(path.join(folder, 'lmdb.node'), Buffer.from(sea.getRawAsset('lmdb.node')));
  };
  try {
    const cache = path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'arc-standalone');
    const folder = path.join(cache, sea.getAsset('digest', 'utf8'));
    if (fs.existsSync(folder)) return folder;
    fs.mkdirSync(cache, { recursive: true, mode: 0o700 });
    const partial = fs.mkdtempSync(folder + '.');
    write(partial);
    try { fs.renameSync(partial, folder); } catch (caught) {
      fs.rmSync(partial, { recursive: true, force: true });
      if (!fs.existsSync(folder)) throw caught;
    }
    return folder;
  } catch {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'arc-standalone-'));
    process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
    write(folder);
    return folder;
  }
})();
`;

/** Wraps the program, an ES module with top-level awaits, in an async function. */
async function scriptOf(entry: string): Promise<{ script: string; metafile: Metafile }> {
  const { outputFiles, metafile } = await build({
    ...bundleSettings,
    entryPoints: [entry],
    banner: { js: '' },
    // Bun's variant is behind a condition; a bundled worker does not need the bundler.
    external: ['bun:ffi', 'esbuild'],
    define: {
      'import.meta.url': '__url',
      // Only the standalone imports it, in the files of one folder.
      'import.meta.dirname': '__dirname_of_standalone',
    },
    plugins: [
      removeUnusedCode,
      ...(entry === 'scripts/arcctl/main.ts' ? [removeVerifiers] : []),
      loadProxiesLazily,
      dynamicBuiltins,
      loadBuiltinsLazily,
      inlineShippedFiles,
      unpackedAddon,
    ],
    metafile: true,
    write: false,
  });
  const text = (outputFiles[0]?.text ?? '').replace(/^#!.*\n/, '');
  const script = `{ (async () => { const require = __module.createRequire(process.execPath);
${text.includes('__dirname_of_standalone') ? "const __dirname_of_standalone = __tree + '/scripts/standalone';\n" : ''}${text}
})(); }`;
  return { script, metafile };
}

/** Reads the manifests that the standalone enforces and applies. */
async function treeFiles(): Promise<Record<string, string>> {
  const folders = ['knative/base', 'knative/components', 'knative/workflow-templates'];
  const found = (await Promise.all(folders.map(manifestFiles))).flat();
  const kustomizations = (await manifestFiles('knative/components')).map((file) =>
    path.join(path.dirname(file), 'kustomization.yaml'),
  );
  const names = new Set([...found, ...kustomizations, 'scripts/standalone/roles.yaml']);
  const texts = await Promise.all(
    [...names].toSorted().map(async (name) => [name, await readFile(name, 'utf8')] as const),
  );
  return Object.fromEntries(texts);
}
