import type { Cause } from '#shared/base/errors';
import { canonicalJson, sameJson } from '#shared/base/meta';
import { likenessOf } from '../identity/artifact.ts';
import type { Artifact, Order, OrderSpec } from '../kinds/order.ts';
import { annotations } from '../kinds/well-known.ts';
import { invalid, quoted, required } from '../values/causes.ts';
import { longestDurationMs, mostSchedules } from '../values/limits.ts';
import {
  durationCauses,
  listCauses,
  nameCauses,
  queueCauses,
  templateCauses,
  uniqueNames,
} from './causes.ts';
import { cronCauses } from './cron-causes.ts';
import { orderWithoutEffect } from './without-effect.ts';

/** Returns the problems of an Order that could never work. An update is judged only where it changes something. */
export function orderCauses(order: Order, old: Order | undefined): Cause[] {
  const { spec } = order;
  const changed = (field: keyof OrderSpec) => !old || !sameJson(spec[field], old.spec[field]);
  return [
    ...annotationCauses(order, old),
    ...(changed('ttl') ? durationCauses('spec.ttl', spec.ttl) : []),
    ...(changed('ttlSecondsAfterCompletion') ? secondsCauses(spec.ttlSecondsAfterCompletion) : []),
    ...(changed('retry') ? durationCauses('spec.retry.backoff', spec.retry?.backoff) : []),
    ...(changed('queueName') ? queueCauses('spec.queueName', spec.queueName) : []),
    ...(changed('defaults') ? defaultsCauses(spec) : []),
    ...(changed('artifacts') || changed('defaults') ? artifactsCauses(spec, old?.spec) : []),
  ];
}

function secondsCauses(seconds = 0): Cause[] {
  const most = longestDurationMs / 1000;
  if (seconds <= most) return [];
  return [
    invalid(
      'spec.ttlSecondsAfterCompletion',
      `Invalid value: ${seconds}: must be at most ten years, ${most}`,
    ),
  ];
}

function annotationCauses(order: Order, old: Order | undefined): Cause[] {
  return [annotations.forceAt, annotations.retryAt].flatMap((name) => {
    const value = order.metadata.annotations?.[name];
    if (value === undefined || value === old?.metadata.annotations?.[name] || /^\d{1,12}$/.test(value))
      return [];
    return [
      invalid(
        `metadata.annotations[${name}]`,
        `Invalid value: ${quoted(value)}: must be a time in Unix seconds`,
      ),
    ];
  });
}

function defaultsCauses({ defaults = {} }: OrderSpec): Cause[] {
  return [
    ...nameCauses('spec.defaults.srcRef.name', defaults.srcRef?.name),
    ...nameCauses('spec.defaults.dstRef.name', defaults.dstRef?.name),
    ...cronCauses('spec.defaults.cron', defaults.cron),
  ];
}

function artifactsCauses(spec: OrderSpec, old: OrderSpec | undefined): Cause[] {
  const artifacts = spec.artifacts ?? [];
  const fresh = [...artifacts.entries()].filter(isNew(old?.artifacts ?? []));
  const sideless = old && sameJson(spec.defaults, old.defaults) ? fresh : [...artifacts.entries()];
  const names = old && sameJson(spec.artifacts, old.artifacts) ? [] : artifacts.map(({ name }) => name);
  return [
    ...uniqueNames('spec.artifacts', names, true),
    ...listCauses(fresh, ([index, artifact]) => artifactCauses(`spec.artifacts[${index}]`, artifact)),
    ...listCauses(sideless, ([index, artifact]) => sideCauses(`spec.artifacts[${index}]`, artifact, spec)),
    ...schedulesCauses(fresh),
  ];
}

/** True for an artifact that the Order did not have before. Most artifacts keep their position, which is compared first. */
export function isNew(known: readonly Artifact[]): (entry: [number, Artifact]) => boolean {
  if (known.length === 0) return () => true;
  let elsewhere: Set<string> | undefined;
  return ([index, artifact]) => {
    if (index < known.length && sameJson(artifact, known[index])) return false;
    elsewhere ??= new Set(known.map(canonicalJson));
    return !elsewhere.has(canonicalJson(artifact));
  };
}

function artifactCauses(field: string, { cron: _, ...artifact }: Artifact): Cause[] {
  return [
    ...nameCauses(`${field}.type`, artifact.type),
    ...nameCauses(`${field}.srcRef.name`, artifact.srcRef?.name),
    ...nameCauses(`${field}.dstRef.name`, artifact.dstRef?.name),
    ...templateCauses(field, artifact),
  ];
}

function sideCauses(field: string, { srcRef, dstRef }: Artifact, { defaults = {} }: OrderSpec): Cause[] {
  return [
    ...(srcRef || defaults.srcRef ? [] : [required(`${field}.srcRef`, 'set it or spec.defaults.srcRef')]),
    ...(dstRef || defaults.dstRef ? [] : [required(`${field}.dstRef`, 'set it or spec.defaults.dstRef')]),
  ];
}

/** Invalid schedules reported: proving that a schedule is never due takes long. */
const mostCronCauses = 10;

// A schedule shared by many artifacts is checked once.
function schedulesCauses(artifacts: ReadonlyArray<[number, Artifact]>): Cause[] {
  const withCron = artifacts.filter(([, { cron }]) => cron !== undefined);
  const distinct = Map.groupBy(withCron, ([, { cron }]) => canonicalJson(cron));
  const crons = [...distinct.values()].flatMap(([first]) => (first ? [first] : []));
  const schedules = crons.reduce((sum, [, { cron }]) => sum + (cron?.schedules.length ?? 0), 0);
  if (schedules > mostSchedules) {
    const message = `Invalid value: ${schedules} different schedules in one Order, at most ${mostSchedules} are possible`;
    return [invalid('spec.artifacts', message)];
  }
  const causes: Cause[] = [];
  for (const [index, { cron }] of crons) {
    causes.push(...cronCauses(`spec.artifacts[${index}].cron`, cron));
    if (causes.length >= mostCronCauses) break;
  }
  return causes;
}

/** Returns warnings about what is valid but probably not intended. */
export function orderWarnings(order: Order): string[] {
  return [...orderWithoutEffect(order), ...alikeWarnings(order)];
}

function alikeWarnings(order: Order): string[] {
  const seen = new Map<string, number>();
  const artifacts = order.spec.artifacts ?? [];
  // A single artifact has no duplicate, and comparing it may take long.
  if (artifacts.length < 2) return [];
  return artifacts.flatMap((artifact, index) => {
    const likeness = likenessOf(order, artifact);
    const first = seen.get(likeness);
    if (first === undefined) seen.set(likeness, index);
    return first === undefined
      ? []
      : [`spec.artifacts[${index}] is the same as spec.artifacts[${first}]: it is moved once`];
  });
}
