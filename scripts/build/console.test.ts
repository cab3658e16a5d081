import { gunzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { buildConsole, type ConsoleApp, consoleOverBudget, inlineConsole } from './console.ts';

it('bundles the front end within its budget, each file named after its content', {
  timeout: 120_000,
}, async () => {
  const { assets, script, style, theme, icon } = await buildConsole();
  expect(consoleOverBudget(assets)).toEqual([]);
  const names = assets.map(({ name }) => `/assets/${name}`);
  for (const address of [script, style, theme, icon]) expect(names).toContain(address);
  for (const { name } of assets) expect(name).toMatch(/-[A-Z0-9a-f]{8}\.(js|css|woff2|svg)$/);
});

it('stands in the bundle of arcctl, which needs no bundler then', { timeout: 120_000 }, async () => {
  const { outputFiles } = await build({
    entryPoints: ['scripts/arcctl/console/server/assets.ts'],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    plugins: [inlineConsole],
  });
  const text = outputFiles[0]?.text ?? '';
  expect(text).not.toContain('esbuild');
  const module = (await import(`data:text/javascript,${encodeURIComponent(text)}`)) as {
    loadConsole(): Promise<ConsoleApp>;
  };
  const { assets, script } = await module.loadConsole();
  const main = assets.find(({ name }) => script.endsWith(name));
  expect(gunzipSync(main?.gzip ?? '').toString()).toContain('createRoot');
});
