import { isRecord } from '#shared/base/meta';
import type { OutputParameter, Workflow, WorkflowNode } from '../kinds/argo.ts';
import type {
  TransferCounts,
  TransferItem,
  TransferItems,
  TransferResults,
} from '../kinds/artifact-workflow.ts';
import {
  longestDigest,
  longestItem,
  longestMediaType,
  longestMessage,
  longestReason,
  longestResults,
  longestWarning,
  mostItems,
  mostPolicies,
  mostSboms,
  mostWarnings,
} from '../values/limits.ts';
import { cut } from '../values/text.ts';

/**
 * Returns the worker's report: the JSON in the output parameter `result` of the Workflow, or of the node that ended last. Only known fields,
 * within bounds; undefined without a report, or if it is not a JSON object, as in templates of other authors.
 */
export function resultsOf(workflow: Workflow): TransferResults | undefined {
  const { outputs, nodes } = workflow.status ?? {};
  // Of several attempts within one Workflow the last one decides; Argo orders nodes by their hashes.
  const time = ({ finishedAt }: WorkflowNode) => Date.parse(finishedAt ?? '') || 0;
  const latest = Object.values(nodes ?? {}).sort((a, b) => time(b) - time(a));
  const lists = [outputs, ...latest.map((node) => node.outputs)].map((found) => found?.parameters ?? []);
  for (const list of lists) {
    const results = parse(list.find(isResult)?.value);
    if (results) return results;
  }
  return undefined;
}

/** Returns how the transfer ended according to the worker. */
export function transferOutcome(workflow: Workflow): TransferResults['outcome'] {
  return resultsOf(workflow)?.outcome;
}

/** Returns why the transfer failed in the worker's words; undefined if it gave no reason. */
export function reportedFailure(workflow: Workflow): string | undefined {
  const { outcome, message } = resultsOf(workflow) ?? {};
  return outcome === 'failed' ? message : undefined;
}

function isResult({ name, globalName }: OutputParameter): boolean {
  return name === 'result' || globalName === 'result';
}

function parse(text: string | undefined): TransferResults | undefined {
  const found = asRecord(parseJson(text));
  if (!found) return undefined;
  const outcome = found.outcome === 'succeeded' || found.outcome === 'failed' ? found.outcome : undefined;
  const reason = asText(found.reason, longestReason);
  const message = asText(found.message, longestMessage);
  const digest = asText(found.digest, longestDigest);
  const mediaType = asText(found.mediaType, longestMediaType);
  const bytes = asCounts(found.bytes);
  const blobs = asCounts(found.blobs);
  const referrers = asCount(found.referrers);
  const repaired = asRepaired(found.repaired);
  const policies = asPolicies(found.policies);
  const sboms = asSboms(found.sboms);
  const items = asItems(found.items);
  const warnings = asTexts(found.warnings);
  return {
    ...(outcome === undefined ? {} : { outcome }),
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
    ...(digest === undefined ? {} : { digest }),
    ...(mediaType === undefined ? {} : { mediaType }),
    ...(bytes === undefined ? {} : { bytes }),
    ...(blobs === undefined ? {} : { blobs }),
    ...(referrers === undefined ? {} : { referrers }),
    ...(repaired === undefined ? {} : { repaired }),
    ...(policies === undefined ? {} : { policies }),
    ...(sboms === undefined ? {} : { sboms }),
    ...(items === undefined ? {} : { items }),
    ...(warnings === undefined ? {} : { warnings }),
  };
}

function parseJson(text: string | undefined): unknown {
  if (!text || text.length > longestResults) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // Templates of other authors may have an output of this name that is not JSON.
    return undefined;
  }
}

function asRecord(value: unknown): Record<string, unknown> | undefined {
  return isRecord(value) ? value : undefined;
}

function asText(value: unknown, bytes: number): string | undefined {
  return typeof value === 'string' && value !== '' ? cut(value, bytes) : undefined;
}

function asCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function asCounts(value: unknown): TransferCounts | undefined {
  const found = asRecord(value);
  if (!found) return undefined;
  const known = (['copied', 'existed', 'mounted'] as const).flatMap((name) => {
    const count = asCount(found[name]);
    return count === undefined ? [] : [[name, count] as const];
  });
  return Object.fromEntries(known);
}

function asRepaired(value: unknown): TransferResults['repaired'] {
  const found = asRecord(value);
  const [manifests, blobs] = [asCount(found?.manifests), asCount(found?.blobs)];
  if (manifests === undefined && blobs === undefined) return undefined;
  return { ...(manifests !== undefined && { manifests }), ...(blobs !== undefined && { blobs }) };
}

function asPolicies(value: unknown): TransferResults['policies'] {
  if (!Array.isArray(value)) return undefined;
  const policies = value.slice(0, mostPolicies).flatMap((one) => {
    const found = asRecord(one);
    const [from, digest] = [asText(found?.from, longestItem), asText(found?.digest, longestDigest)];
    return from === undefined || digest === undefined ? [] : [{ from, digest }];
  });
  return policies.length === 0 ? undefined : policies;
}

function asSboms(value: unknown): TransferResults['sboms'] {
  if (!Array.isArray(value)) return undefined;
  const sboms = value.slice(0, mostSboms).flatMap((one) => {
    const found = asRecord(one);
    const [subject, type] = [asText(found?.subject, longestDigest), asText(found?.type, longestMediaType)];
    const digest = asText(found?.digest, longestDigest);
    if (subject === undefined || type === undefined) return [];
    return [{ subject, type, ...(digest !== undefined && { digest }) }];
  });
  return sboms.length === 0 ? undefined : sboms;
}

function asItems(value: unknown): TransferItems | undefined {
  const found = asRecord(value);
  if (!found || !Array.isArray(found.list)) return undefined;
  const [total, copied, unchanged, failed] = [found.total, found.copied, found.unchanged, found.failed].map(
    asCount,
  );
  const list = found.list.slice(0, mostItems).flatMap((one) => asItem(one) ?? []);
  const deleted = asCount(found.deleted);
  return {
    total: total ?? 0,
    copied: copied ?? 0,
    unchanged: unchanged ?? 0,
    failed: failed ?? 0,
    ...(deleted === undefined ? {} : { deleted }),
    list,
  };
}

function asItem(value: unknown): TransferItem | undefined {
  const found = asRecord(value);
  const [source, target] = [asText(found?.source, longestItem), asText(found?.target, longestItem)];
  const outcome = (['copied', 'unchanged', 'failed'] as const).find((one) => one === found?.outcome);
  if (!found || source === undefined || target === undefined || outcome === undefined) return undefined;
  const digest = asText(found.digest, longestDigest);
  const reason = asText(found.reason, longestReason);
  const message = asText(found.message, longestItem);
  return {
    source,
    target,
    outcome,
    ...(digest === undefined ? {} : { digest }),
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  };
}

function asTexts(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const texts = value.filter((one) => typeof one === 'string').slice(0, mostWarnings);
  return texts.length === 0 ? undefined : texts.map((one) => cut(one, longestWarning));
}
