import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { checkDocumentedNames } from './documented-names.ts';

it('reports variables and metrics that no page of their program names, and names on pages that do not exist', async () => {
  const root = await mkdtemp(path.join(tmpdir(), 'documented-names-'));
  onTestFinished(() => rm(root, { recursive: true }));
  const files = {
    'functions/a/main.ts': "const settings = { ARC_KNOWN: 1, ARC_FORGOTTEN: 2 }; name: 'arc_a_lag_seconds'",
    'functions/a/main.test.ts': "'ARC_ONLY_IN_A_TEST'",
    'functions/a/README.md': '`ARC_KNOWN`, `ARC_REMOVED`, `arc_a_lag_seconds_bucket` of `arc_a_lag_seconds`',
    'shared/base/b.ts': "'ARC_ANYWHERE'",
    'docs/page.md': '`ARC_ANYWHERE` `ARC_FORGOTTEN`',
  };
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.join(root, path.dirname(file)), { recursive: true });
    await writeFile(path.join(root, file), text);
  }
  expect(await checkDocumentedNames(root)).toEqual([
    'functions/a/main.ts names ARC_FORGOTTEN: document it in functions/a/README.md',
    'functions/a/README.md names ARC_REMOVED, which does not exist',
  ]);
});
