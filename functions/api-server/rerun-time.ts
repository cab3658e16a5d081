import type { Cause } from '#shared/base/errors';
import { isoSeconds } from '#shared/base/meta';
import { annotations, group, invalidObject } from '#shared/domain';
import type { AdmissionPlugin, KubeObject } from '#shared/kubernetes/apiserver';

/** How far the clock of a client may be ahead of the server's, in seconds. */
const clockSkew = 60;
const checked = [annotations.forceAt, annotations.retryAt];
const kinds = ['Order', 'ArtifactWorkflow'];

/**
 * Refuses a `force-at` or `retry-at` in the future: it would run at once and then hide every later request until that time had come.
 * Values that an update leaves alone, and objects that are being deleted, are not checked. Rejects with Invalid.
 */
export function rerunTimes(now: () => Date): AdmissionPlugin {
  return {
    name: 'RerunTime',
    handles: ({ kind, subResource }) =>
      kind.group === group && kinds.includes(kind.kind) && subResource === '',
    async validate({ kind, name, object, oldObject }) {
      if (object === undefined || object.metadata.deletionTimestamp !== undefined) return;
      const causes = futureTimes(object, oldObject, Math.floor(now().getTime() / 1000));
      if (causes.length === 0) return;
      throw invalidObject(kind.kind, name, causes);
    },
  };
}

function futureTimes({ metadata }: KubeObject, old: KubeObject | undefined, present: number): Cause[] {
  return checked.flatMap((annotation) => {
    const value = metadata.annotations?.[annotation];
    if (value === undefined || value === old?.metadata.annotations?.[annotation]) return [];
    // Other texts are for the validation of the kind.
    const asked = /^\d{1,12}$/.test(value) ? Number(value) : 0;
    if (asked <= present + clockSkew) return [];
    const server = `the server's time is ${present} (${isoSeconds(present * 1000)})`;
    const message = `Invalid value: "${value}": is ${asked - present} s in the future: ${server}; set the present time in Unix seconds, as date +%s prints it`;
    return [{ reason: 'FieldValueInvalid', field: `metadata.annotations[${annotation}]`, message }];
  });
}
