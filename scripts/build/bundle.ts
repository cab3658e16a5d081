import { chmod, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { type BuildOptions, build, type Metafile } from 'esbuild';
import { inlineConsole } from './console.ts';
import { inlineProtos } from './inline-protos.ts';
import {
  excludeKubeconfig,
  kubeconfigFile,
  loadBuiltinsLazily,
  loadProxiesLazily,
  plainBuiltins,
  removeUnusedCode,
  removeVerifiers,
} from './lean.ts';
import { inlineShippedFiles } from './shipped-files.ts';

export interface Bundle {
  name: string;
  file: string;
  bytes: number;
  /** Folders of the bundled packages, such as `node_modules/zod`. */
  packages: string[];
}

/** esbuild settings for a program as one file, for the Node version of our images. */
export const bundleSettings = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  minify: true,
  keepNames: true,
  legalComments: 'none',
  // Bundles contain module names, which must not depend on where a link in node_modules points.
  preserveSymlinks: true,
  logLevel: 'error',
  // Some dependencies are CommonJS and call require at run time; an ESM bundle must define it.
  banner: {
    js: "const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);",
  },
  // lmdb loads a native addon by path: only the standalone uses the embedded store.
  external: ['lmdb'],
  plugins: [inlineProtos, removeUnusedCode, loadProxiesLazily, plainBuiltins, excludeKubeconfig],
} satisfies BuildOptions;

/**
 * Settings for functions, which start often, and for servers. Stack traces need function names, but restoring minified names costs a call per
 * function at every start and per closure later, so names are not minified.
 */
export const functionSettings = {
  ...bundleSettings,
  minify: false,
  minifyWhitespace: true,
  minifySyntax: true,
  keepNames: false,
} satisfies BuildOptions;

const servers = ['api-server', 'watch-bridge', 'console'];

/** A server spent 4 % of its CPU on the names of closures; one-shot programs should be small instead. */
function programSettings(name: string): typeof bundleSettings | typeof functionSettings {
  return servers.includes(name) ? functionSettings : bundleSettings;
}

/**
 * Bundles every deployable of functions/ into a file `<outDir>/<name>.mjs`. A folder with `main.ts` is a program with its own start; one with
 * `func.yaml` is a function, started by the shared runtime; others are not deployable. A further shared file is loaded to read a
 * kubeconfig. The console stands beside arcctl, with which it shares its pages.
 */
export async function buildFunctions(outDir: string): Promise<Bundle[]> {
  const bundles: Promise<Bundle>[] = [bundleKubeconfig(outDir), bundleConsole(outDir)];
  for (const entry of await readdir('functions', { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const files = await readdir(path.join('functions', entry.name));
    if (files.includes('main.ts')) bundles.push(bundle(entry.name, outDir, true));
    else if (files.includes('func.yaml')) bundles.push(bundle(entry.name, outDir, false));
  }
  return Promise.all(bundles);
}

/** Bundles the module that programs load lazily to read a kubeconfig. */
export async function bundleKubeconfig(outDir: string): Promise<Bundle> {
  const file = path.join(outDir, kubeconfigFile);
  const { metafile } = await build({
    ...bundleSettings,
    entryPoints: ['shared/kubernetes/client/kubeconfig/index.ts'],
    metafile: true,
    outfile: file,
  });
  return made(path.parse(kubeconfigFile).name, file, metafile);
}

async function bundleConsole(outDir: string): Promise<Bundle> {
  const [name, file] = ['console', path.join(outDir, 'console.mjs')];
  const settings = programSettings(name);
  const { metafile } = await build({
    ...settings,
    entryPoints: ['scripts/console/main.ts'],
    plugins: [...settings.plugins, inlineConsole, inlineShippedFiles],
    outfile: file,
    metafile: true,
  });
  return made(name, file, metafile);
}

const commands = ['arcctl', 'arc-transfer'];

/** Bundles the command-line programs, one file each, and the start file of the installed arcctl. */
export function bundleCommands(outDir: string): Promise<Bundle[]> {
  return Promise.all([bundleStart(outDir), ...commands.map((name) => bundleCommand(name, outDir))]);
}

/** Bundles arcctl as installed by npm; resolves with its start file, which is beside the program. */
export async function bundleInstalled(outDir: string): Promise<Bundle> {
  const [start] = await Promise.all([bundleStart(outDir), bundleCommand('arcctl', outDir)]);
  return start;
}

/**
 * Bundles a command into one self-contained file: lazily loaded modules, including kubeconfigs, are in it and are parsed when needed. It runs
 * under the user's Node.
 */
async function bundleCommand(name: string, outDir: string): Promise<Bundle> {
  const file = path.join(outDir, `${name}.mjs`);
  const { metafile } = await build({
    ...bundleSettings,
    metafile: true,
    target: 'node22',
    entryPoints: [`scripts/${name}/main.ts`],
    plugins: [
      removeUnusedCode,
      ...(name === 'arcctl' ? [removeVerifiers, inlineConsole] : []),
      loadProxiesLazily,
      loadBuiltinsLazily,
      inlineShippedFiles,
    ],
    outfile: file,
  });
  await chmod(file, 0o755);
  return made(name, file, metafile);
}

/** Bundles the start file, which also runs under old Node versions to report that they are too old. */
async function bundleStart(outDir: string): Promise<Bundle> {
  const name = 'arcctl-start';
  const file = path.join(outDir, `${name}.mjs`);
  const { banner: _, plugins: __, ...settings } = bundleSettings;
  const entryPoints = ['scripts/arcctl/start.ts'];
  const { metafile } = await build({
    ...settings,
    metafile: true,
    target: 'node18',
    entryPoints,
    outfile: file,
  });
  await chmod(file, 0o755);
  return made(name, file, metafile);
}

async function bundle(name: string, outDir: string, isProgram: boolean): Promise<Bundle> {
  const folder = path.join('functions', name);
  const start = `import * as fn from './index.ts'; import { runMain } from '#shared/conduit/runtime'; await runMain(fn, '${name}');`;
  const file = path.join(outDir, `${name}.mjs`);
  const { metafile } = await build({
    // As an entry point itself: `import './main.ts'` would be dropped, because package.json says `sideEffects: false`.
    ...(isProgram
      ? { ...programSettings(name), entryPoints: [path.join(folder, 'main.ts')] }
      : {
          ...functionSettings,
          stdin: { contents: start, resolveDir: folder, sourcefile: 'start.ts', loader: 'ts' },
        }),
    outfile: file,
    metafile: true,
  });
  return made(name, file, metafile);
}

async function made(name: string, file: string, metafile: Metafile): Promise<Bundle> {
  return { name, file, bytes: (await stat(file)).size, packages: packagesOf(metafile) };
}

/** The folders of the packages that a bundle is made of. */
export function packagesOf({ inputs }: Metafile): string[] {
  const folders = Object.keys(inputs).flatMap(
    (input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input.replace(/^[a-z-]+:/, ''))?.[0] ?? [],
  );
  return [...new Set(folders)].toSorted();
}
