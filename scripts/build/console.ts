import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type Plugin } from 'esbuild';

/** A file of the front end, compressed once. */
export interface Asset {
  /** Its name has a hash of its content: it may be kept for ever. */
  name: string;
  type: string;
  gzip: Uint8Array;
}

export interface ConsoleApp {
  assets: Asset[];
  /** Addresses: of the script and the style that a page begins with, and of the script that sets the theme before the first paint. */
  script: string;
  style: string;
  theme: string;
  icon: string;
}

const root = path.resolve(import.meta.dirname, '../..');
const folder = path.join(root, 'scripts/arcctl/console/app');
const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.woff2': 'font/woff2',
};

/** Bundles the front end of the console: a page loads one script and one style, and what only some pages need when they are opened. */
export async function buildConsole(): Promise<ConsoleApp> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: { console: path.join(folder, 'main.tsx'), theme: path.join(folder, 'theme.ts') },
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    minify: true,
    legalComments: 'none',
    preserveSymlinks: true,
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"production"' },
    loader: { '.woff2': 'file' },
    entryNames: '[name]-[hash]',
    chunkNames: 'part-[hash]',
    assetNames: '[name]-[hash]',
    outdir: path.join(root, 'dist/console'),
    publicPath: '/assets',
    metafile: true,
    write: false,
  });
  const assets = outputFiles.map(({ path: file, contents }) => {
    const type = types[path.extname(file)] ?? 'application/octet-stream';
    return { name: path.basename(file), type, gzip: gzipSync(contents, { level: 9 }) };
  });
  const icon = await readFile(path.join(folder, 'icon.svg'));
  const iconName = `icon-${createHash('sha256').update(icon).digest('hex').slice(0, 8)}.svg`;
  const entry = (name: string) =>
    Object.entries(metafile.outputs).find(([, { entryPoint = '' }]) => path.parse(entryPoint).name === name);
  const [script = '', { cssBundle = '' } = {}] = entry('main') ?? [];
  const [theme = ''] = entry('theme') ?? [];
  const address = (file: string) => `/assets/${path.basename(file)}`;
  return {
    assets: [...assets, { name: iconName, type: 'image/svg+xml', gzip: gzipSync(icon, { level: 9 }) }],
    script: address(script),
    style: address(cssBundle),
    theme: address(theme),
    icon: address(iconName),
  };
}

/** KiB as they are sent, all pages together. */
const consoleBudget = 350;

/** One line where the front end is over its budget. */
export function consoleOverBudget(assets: readonly Asset[]): string[] {
  const size = Math.ceil(assets.reduce((total, { gzip }) => total + gzip.length, 0) / 1024);
  return size > consoleBudget
    ? [`the console is ${size} KiB compressed, its budget is ${consoleBudget} KiB`]
    : [];
}

/** Puts the front end into the bundle of arcctl: it needs no folder beside it, and no bundler where it runs. */
export const inlineConsole: Plugin = {
  name: 'console',
  setup(setup) {
    setup.onLoad({ filter: /[\\/]console[\\/]server[\\/]assets\.ts$/ }, async () => {
      const { assets, ...rest } = await buildConsole();
      const texts = assets.map(({ gzip, ...asset }) => ({
        ...asset,
        text: Buffer.from(gzip).toString('base64'),
      }));
      const contents = `const { assets, ...rest } = ${JSON.stringify({ assets: texts, ...rest })};
        export const loadConsole = async () => ({ ...rest, assets: assets.map(({ text, ...asset }) =>
          ({ ...asset, gzip: Buffer.from(text, 'base64') })) });`;
      return { contents, loader: 'js' };
    });
  },
};
