import type { Endpoint } from '../kinds/endpoint.ts';
import { isDeleting } from '../lifecycle/phases.ts';
import { unseenSecret } from '../plan/endpoint-use.ts';
import { isUnprobed, probeDue } from '../probe/due.ts';
import { isOn } from '../settings/settings.ts';
import { shortHash } from '../values/hash.ts';
import { type Duty, growing, lookIntervals, steady } from './duty.ts';
import type { View } from './view.ts';

/** Returns the duties of functions for an Endpoint. */
export function endpointDuties(view: View, endpoint: Endpoint, now: Date): Duty[] {
  if (isDeleting(endpoint)) return [];
  return [...credentialDuties(view, endpoint, now), ...probeDuties(view, endpoint, now)];
}

/** Its Secrets are read when it changes, often while it is in use, and rarely while it is not. */
function credentialDuties(view: View, endpoint: Endpoint, now: Date): Duty[] {
  const { metadata, spec, status } = endpoint;
  const step = 'track-credentials';
  if (status?.observedGeneration !== metadata.generation)
    return [{ step, why: `generation ${metadata.generation}`, due: now.getTime() }];
  const names = [spec.secretRef?.name, spec.tls?.caSecretRef?.name].filter((name) => name !== undefined);
  if (names.length === 0) return [];
  const seen = names.map((name) =>
    `${name} ${view.secretVersion(metadata.namespace ?? '', name) ?? ''}`.trimEnd(),
  );
  // Whoever rotates a Secret may announce the rotation with any annotation.
  const note =
    metadata.annotations === undefined ? '' : `, as of annotations ${shortHash(metadata.annotations)}`;
  const why = `Secret ${seen.join(', ')} may have changed${note}`;
  const { inUse, atRest } = lookIntervals;
  if (!view.isInUse(endpoint)) return [{ step, why, look: steady(atRest) }];
  return [{ step, why, look: isSecretMissing(endpoint) ? growing(inUse) : steady(inUse) }];
}

/** Returns true for an Endpoint whose Secret track-credentials has looked for and never found. */
export function isSecretMissing(endpoint: Endpoint): boolean {
  return unseenSecret(endpoint) !== undefined;
}

function probeDuties({ settings }: View, endpoint: Endpoint, now: Date): Duty[] {
  const { metadata, status } = endpoint;
  // The settings or the Endpoint itself are about to change: the probe would be outdated at once.
  if (!isOn('probes', settings) || status?.observedGeneration !== metadata.generation) return [];
  if (isUnprobed(endpoint)) return [{ step: 'probe', why: 'never tried as it is', due: now.getTime() }];
  const due = probeDue(endpoint)?.getTime();
  return due === undefined ? [] : [{ step: 'probe', why: 'another try is due', due }];
}
