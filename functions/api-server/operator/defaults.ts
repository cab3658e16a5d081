import { isRecord } from '#shared/base/meta';
import { group, isOn, type Order, type Settings } from '#shared/domain';
import type { AdmissionPlugin } from '#shared/kubernetes/apiserver';

/**
 * Gives a new Order the operator's `defaults.ttl` where it sets none, so that it can be seen, and warns of fields of an Order that
 * have no effect because the operator enforces another value. Other defaults are looked up when they count.
 */
export function operatorDefaults(settings: () => Settings): AdmissionPlugin {
  return {
    name: 'OperatorDefaults',
    handles: ({ kind, subResource }) => kind.group === group && kind.kind === 'Order' && subResource === '',
    async mutate({ operation, object }) {
      const present = settings();
      const ttl = isOn('ttl', present) ? present['defaults.ttl'] : undefined;
      if (operation !== 'CREATE' || object === undefined || ttl === undefined) return undefined;
      const { spec = {} } = object;
      // What is no object is refused by the validation that follows.
      if (!isRecord(spec) || spec.ttl !== undefined) return undefined;
      return { ...object, spec: { ...spec, ttl } };
    },
    async validate({ object, warn }) {
      if (object === undefined) return;
      // Validated by the schema of the kind.
      for (const text of overruled(object as Order, settings())) warn(text);
    },
  };
}

/** The fields of an Order with another value than the operator enforces. */
function overruled({ spec }: Order, settings: Settings): string[] {
  const { onChange, retry, revisionHistoryLimit, ttlSecondsAfterCompletion: seconds } = spec;
  const ttl = seconds === undefined ? undefined : `${seconds}s`;
  const given = [
    ['spec.onChange', onChange, 'enforced.onChange'],
    ['spec.retry.limit', retry?.limit, 'enforced.retry.limit'],
    ['spec.retry.backoff', retry?.backoff, 'enforced.retry.backoff'],
    ['spec.revisionHistoryLimit', revisionHistoryLimit, 'enforced.revisionHistoryLimit'],
    ['spec.ttlSecondsAfterCompletion', ttl, 'enforced.ttlAfterFinished'],
    ['spec.ttlSecondsAfterCompletion', ttl, 'enforced.ttlAfterFailed'],
  ] as const;
  return given.flatMap(([field, value, key]) => {
    const enforced = settings[key];
    if (value === undefined || enforced === undefined || value === enforced) return [];
    return [`${field}: has no effect: the operator has set ${key} to ${enforced}`];
  });
}
