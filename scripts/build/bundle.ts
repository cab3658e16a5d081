import { chmod, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { type BuildOptions, build, type Metafile } from 'esbuild';
import { inlineConsole } from './console.ts';
import { inlineProtos } from './inline-protos.ts';
import {
  builtinsWhenUsed,
  kubeconfigApart,
  kubeconfigFile,
  leaveJudgesOut,
  leaveOut,
  loadSeldomLate,
  plainBuiltins,
} from './lean.ts';
import { inlineShippedFiles } from './shipped-files.ts';

export interface Bundle {
  name: string;
  file: string;
  bytes: number;
  /** Folders of the packages that parts of it come from, such as `node_modules/zod`. */
  packages: string[];
}

/** How a program becomes one file for the Node of our images. */
export const bundleSettings = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  minify: true,
  keepNames: true,
  legalComments: 'none',
  // Names of modules are written into bundles: where a link in node_modules leads to must not be.
  preserveSymlinks: true,
  logLevel: 'error',
  // Some dependencies are CommonJS and call require at run time; an ESM bundle has none unless it is made.
  banner: {
    js: "const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);",
  },
  // lmdb loads a native addon by path: the embedded store is for the standalone and no function carries it.
  external: ['lmdb'],
  plugins: [inlineProtos, leaveOut, loadSeldomLate, plainBuiltins, kubeconfigApart],
} satisfies BuildOptions;

/**
 * The same for functions, which start often, and for servers. Stack traces need names; giving minified functions their names back takes a
 * call for each at every start, and for each closure that is made later, so they are left as they are written.
 */
export const functionSettings = {
  ...bundleSettings,
  minify: false,
  minifyWhitespace: true,
  minifySyntax: true,
  keepNames: false,
} satisfies BuildOptions;

const servers = ['api-server', 'watch-bridge'];

/** A server spent 4 % of its CPU on the names of its closures; whatever starts for one job has to be small. */
function programSettings(name: string): typeof bundleSettings | typeof functionSettings {
  return servers.includes(name) ? functionSettings : bundleSettings;
}

/**
 * Bundles every deployable of functions/ into one file `<outDir>/<name>.mjs`. A folder with a `main.ts` is a program and
 * brings its own start; one with a `func.yaml` is a function, started by the shared runtime. The rest
 * deploys nothing by itself. One more file is for all of them, loaded when a kubeconfig has to be read.
 */
export async function buildFunctions(outDir: string): Promise<Bundle[]> {
  const bundles: Promise<Bundle>[] = [bundleKubeconfig(outDir)];
  for (const entry of await readdir('functions', { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const files = await readdir(path.join('functions', entry.name));
    if (files.includes('main.ts')) bundles.push(bundle(entry.name, outDir, true));
    else if (files.includes('func.yaml')) bundles.push(bundle(entry.name, outDir, false));
  }
  return Promise.all(bundles);
}

/** What programs load lazily to read a kubeconfig. */
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

const commands = ['arcctl', 'arc-transfer'];

/** The commands for people, one file each, and what starts arcctl where it is installed. */
export function bundleCommands(outDir: string): Promise<Bundle[]> {
  return Promise.all([bundleStart(outDir), ...commands.map((name) => bundleCommand(name, outDir))]);
}

/** arcctl as `npm install` has it: resolves with the file that is started, beside which the command stands. */
export async function bundleInstalled(outDir: string): Promise<Bundle> {
  const [start] = await Promise.all([bundleStart(outDir), bundleCommand('arcctl', outDir)]);
  return start;
}

/**
 * A command as one file, which stands anywhere by itself: what it loads lazily, kubeconfigs too, is in it, and is first looked at when it
 * is needed. It runs under its user's Node.
 */
async function bundleCommand(name: string, outDir: string): Promise<Bundle> {
  const file = path.join(outDir, `${name}.mjs`);
  const { metafile } = await build({
    ...bundleSettings,
    metafile: true,
    target: 'node22',
    entryPoints: [`scripts/${name}/main.ts`],
    plugins: [
      leaveOut,
      ...(name === 'arcctl' ? [leaveJudgesOut, inlineConsole] : []),
      loadSeldomLate,
      builtinsWhenUsed,
      inlineShippedFiles,
    ],
    outfile: file,
  });
  await chmod(file, 0o755);
  return made(name, file, metafile);
}

/** A few lines for any Node, old ones too, which are told that they are. */
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
