import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Plugin } from 'esbuild';
import { shippedFiles } from '../arcctl/core/shipped.ts';

/** Inlines the files that arcctl ships, and only the version of package.json. */
export const inlineShippedFiles: Plugin = {
  name: 'shipped-files',
  setup(build) {
    build.onLoad({ filter: /[\\/]arcctl[\\/]core[\\/]shipped\.ts$/ }, async ({ path: file }) => {
      const root = path.resolve(path.dirname(file), '../../..');
      const texts: Record<string, string> = {};
      for (const name of shippedFiles) texts[name] = await readFile(path.join(root, name), 'utf8');
      const contents = `const texts = ${JSON.stringify(texts)};
        export const shippedText = (name) => texts[name];`;
      return { contents, loader: 'js' };
    });
    build.onLoad({ filter: /[\\/]package\.json$/ }, async ({ path: file }) => {
      if (path.resolve(file) !== path.resolve('package.json')) return undefined;
      const { version } = JSON.parse(await readFile(file, 'utf8'));
      return { contents: JSON.stringify({ version }), loader: 'json' };
    });
  },
};
