import { isRecord } from '#shared/base/meta';
import { parseBody } from '../codec/parse-body.ts';
import type { AuditChoice } from './audit-policy.ts';

/** Larger bodies are not recorded. */
const maxRecordedBytes = 1024 * 1024;

/** A body as it is recorded: `object` if it is one, `truncated` if it is too large. */
export interface AuditedBody {
  object?: object;
  truncated: boolean;
}

/** @param type its media type; YAML is recorded as JSON */
export async function auditedBody(
  bytes: Uint8Array,
  type: string,
  choice: AuditChoice,
): Promise<AuditedBody> {
  if (bytes.byteLength > maxRecordedBytes) return { truncated: true };
  let value: unknown;
  try {
    ({ value } = await parseBody(bytes, type));
  } catch {
    return { truncated: false }; // protobuf, or malformed, which the response code shows
  }
  if (typeof value !== 'object' || value === null) return { truncated: false };
  if (choice.omitManagedFields) dropManagedFields(value);
  return { object: value, truncated: false };
}

function dropManagedFields(value: object): void {
  const { metadata, items } = value as { metadata?: unknown; items?: unknown };
  if (isRecord(metadata)) delete metadata.managedFields;
  if (Array.isArray(items)) for (const item of items) if (isRecord(item)) dropManagedFields(item);
}

/** Reads a response until it is too large to be recorded. */
export async function readUpTo(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    chunks.push(chunk);
    if (size > maxRecordedBytes) break;
  }
  return Buffer.concat(chunks);
}
