import { readFileSync } from 'node:fs';

/**
 * Files of the tree that arcctl shows or applies. In the bundle another module stands here, which holds their texts
 * (scripts/build/shipped-files.ts): each fact stands once, and a bundle needs no folder beside it.
 */
export const shippedFiles = [
  'docs/status.md',
  'knative/tenant/function-rights.yaml',
  'knative/tenant/workflow-account.yaml',
  'knative/tenant/egress.yaml',
] as const;
export type ShippedFile = (typeof shippedFiles)[number];

/** The text of one of them. */
export function shippedText(name: ShippedFile): string {
  return readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');
}
