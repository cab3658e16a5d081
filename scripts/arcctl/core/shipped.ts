import { readFileSync } from 'node:fs';

/**
 * Files of the repository that arcctl shows or applies. The bundle replaces this module by one that contains their texts
 * (scripts/build/shipped-files.ts), so that it needs no other files.
 */
export const shippedFiles = [
  'docs/status.md',
  'knative/tenant/function-rights.yaml',
  'knative/tenant/workflow-account.yaml',
  'knative/tenant/egress.yaml',
] as const;
export type ShippedFile = (typeof shippedFiles)[number];

/** Returns the text of a file. */
export function shippedText(name: ShippedFile): string {
  return readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');
}
