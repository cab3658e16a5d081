import { isRecord } from '#shared/base/meta';
import { yamlToJson } from '#shared/base/yaml';
import { TransferError } from '../errors/transfer-error.ts';

const maxCharacters = 2 * 1024 * 1024;

/** Parses a YAML file of a chart as Helm does; an empty file is an empty object. `what` names the file. Rejects with a permanent TransferError. */
export async function readChartYaml(bytes: Uint8Array, what: string): Promise<Record<string, unknown>> {
  let value: unknown;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const limits = {
      what: 'it',
      characters: maxCharacters,
      depth: 100,
      size: 2 * maxCharacters,
      lenient: true,
    };
    value = JSON.parse((await yamlToJson(text, limits)) || 'null');
  } catch (caught) {
    const why = caught instanceof Error ? caught.message : String(caught);
    throw new TransferError('permanent', `${what} cannot be read: ${why}.`, { cause: caught });
  }
  if (value === null) return {};
  if (isRecord(value)) return value;
  throw new TransferError('permanent', `${what} cannot be read: it is not a mapping.`);
}
