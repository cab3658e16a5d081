import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'yaml';
import * as z from 'zod';
import { ArcError } from '#shared/base/errors';
import { applyMergePatch, isRecord } from '#shared/base/meta';
import type { Manifest } from './manifests.ts';

const target = z.strictObject({ group: z.string(), kind: z.string(), name: z.string() }).partial();
const component = z.looseObject({
  patches: z.array(z.strictObject({ target: target.optional(), patch: z.string() })),
});
const operations = z.array(
  z.strictObject({ op: z.enum(['test', 'remove']), path: z.string(), value: z.unknown().optional() }),
);
const merge = z.looseObject({
  $patch: z.literal('delete').optional(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});

/**
 * The manifests as a kustomize component of patches leaves them, as far as our switches need it: an inline patch deletes what its target
 * selects, merges into it, or tests and removes values (RFC 6902). Lists are replaced, not merged. Throws Invalid, naming the component, for
 * anything else, for a patch that selects nothing, and for a test that fails.
 */
export async function withComponent(
  manifests: readonly Manifest[],
  folder: string,
): Promise<readonly Manifest[]> {
  const text = await readFile(path.join(folder, 'kustomization.yaml'), 'utf8');
  const { patches } = component.parse(parse(text));
  return patches.reduce((all, one) => patched(all, one, folder), manifests);
}

type Patch = z.infer<typeof component>['patches'][number];

function patched(all: readonly Manifest[], { target: selector, patch }: Patch, folder: string): Manifest[] {
  const content: unknown = parse(patch);
  const listed = operations.safeParse(content);
  const merged = listed.success ? undefined : merge.parse(content);
  const selects = selector ?? { kind: merged?.kind, name: merged?.metadata.name };
  let found = 0;
  const result = all.flatMap((one) => {
    if (!isSelected(one, selects)) return [one];
    found += 1;
    if (listed.success) return [listed.data.reduce((object, step) => operated(object, step, folder), one)];
    if (merged === undefined || merged.$patch === 'delete') return [];
    return [applyMergePatch(one, { ...merged, kind: one.kind, metadata: one.metadata }) as Manifest];
  });
  if (found === 0) throw new ArcError('Invalid', `${folder}: a patch selects nothing: ${patch}`);
  return result;
}

function isSelected(
  { apiVersion, kind, metadata }: Manifest,
  wanted: { group?: string | undefined; kind?: string | undefined; name?: string | undefined },
): boolean {
  return (
    (wanted.group === undefined || apiVersion.startsWith(`${wanted.group}/`)) &&
    (wanted.kind === undefined || kind === wanted.kind) &&
    (wanted.name === undefined || new RegExp(`^(?:${wanted.name})$`).test(metadata.name))
  );
}

function operated(
  one: Manifest,
  { op, path: at, value }: z.infer<typeof operations>[number],
  folder: string,
) {
  const copy = structuredClone(one);
  const steps = at.split('/').slice(1);
  const last = steps.pop() ?? '';
  const holder = steps.reduce<unknown>(valueAt, copy);
  if (op === 'test' && valueAt(holder, last) !== value)
    throw new ArcError(
      'Invalid',
      `${folder}: ${one.kind} ${one.metadata.name}: ${at} is not ${String(value)}`,
    );
  if (op === 'remove' && Array.isArray(holder)) holder.splice(Number(last), 1);
  return copy;
}

function valueAt(holder: unknown, step: string): unknown {
  if (Array.isArray(holder)) return holder[Number(step)] as unknown;
  return isRecord(holder) ? holder[step] : undefined;
}
