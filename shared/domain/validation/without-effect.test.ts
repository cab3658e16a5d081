import { describe, expect, it } from 'vitest';
import type { KubeObject } from '#shared/base/meta';
import { arcKinds } from '../definitions/arc-kinds.ts';
import type { Artifact, OrderSpec } from '../kinds/order.ts';
import { apiVersion } from '../kinds/refs.ts';
import { artifactType, endpoint } from '../testing/objects.ts';
import { order as orderOf } from '../testing/plan-objects.ts';

function warnings(object: KubeObject): string[] {
  return arcKinds.find(({ kind }) => kind === object.kind)?.hooks.warn?.(object, undefined) ?? [];
}

/** The fields that are told, one for each warning. */
const fields = (object: KubeObject) => warnings(object).map((text) => /^[^ :]+/.exec(text)?.[0]);

const nightly = { cron: { schedules: ['@daily'] } };
const once: Artifact = { type: 'oci', spec: { image: 'a:1' } };
const scheduled: Artifact = { ...once, ...nightly };
const order = (spec: Partial<OrderSpec>) => {
  const base = orderOf(spec.artifacts ?? [once]);
  return { ...base, spec: { ...base.spec, ...spec } };
};
const byHand = (spec: object, metadata: object = {}) => ({
  apiVersion,
  kind: 'ArtifactWorkflow',
  metadata: { name: 'by-hand', namespace: 'team', ...metadata },
  spec: { workflowTemplateRef: { name: 't' }, ...spec },
});

describe('an Order is told of', () => {
  const ofAttempts = { retry: { limit: 1 }, parallelism: 2, ttlSecondsAfterCompletion: 60 };

  it('what is about attempts and their ends, where every artifact is on a schedule', () => {
    const told = ['spec.retry', 'spec.parallelism', 'spec.ttlSecondsAfterCompletion'];
    expect(fields(order({ ...ofAttempts, artifacts: [scheduled] }))).toEqual(told);
    expect(fields(order({ ...ofAttempts, defaults: nightly }))).toEqual(told);
    expect(fields(order({ ...ofAttempts, artifacts: [scheduled, once] }))).toEqual([]);
    expect(fields(order({ ...ofAttempts, artifacts: [] }))).toEqual([]);
    expect(fields(order(ofAttempts))).toEqual([]);
  });

  it('a backoff beside limit 0', () => {
    expect(fields(order({ retry: { limit: 0, backoff: '1m' } }))).toEqual(['spec.retry.backoff']);
    expect(fields(order({ retry: { limit: 0 } }))).toEqual([]);
    expect(fields(order({ retry: { backoff: '1m' } }))).toEqual([]);
  });

  it('ttlSecondsAfterCompletion that is not shorter than ttl', () => {
    const ttls = (ttl: string) => fields(order({ ttl, ttlSecondsAfterCompletion: 60 }));
    expect(ttls('1m')).toEqual(['spec.ttlSecondsAfterCompletion']);
    expect(ttls('61s')).toEqual([]);
  });

  it('cancel: false of an artifact, where the whole Order is cancelled', () => {
    const artifacts = [once, { ...once, name: 'b', spec: { image: 'b:1' }, cancel: false }];
    expect(fields(order({ cancel: true, artifacts }))).toEqual(['spec.artifacts[1].cancel']);
    expect(fields(order({ cancel: false, artifacts }))).toEqual([]);
  });

  it('a time zone where every schedule counts from its last run', () => {
    const zoned = (...schedules: string[]) => ({ cron: { schedules, timezone: 'Europe/Berlin' } });
    expect(fields(order({ artifacts: [{ ...once, ...zoned('@every 1h') }] }))).toEqual([
      'spec.artifacts[0].cron.timezone',
    ]);
    expect(fields(order({ defaults: zoned('@every 1h') }))).toEqual(['spec.defaults.cron.timezone']);
    expect(fields(order({ defaults: zoned('@daily') }))).toEqual([]);
  });
});

describe('an ArtifactWorkflow made by hand is told of', () => {
  const policy = { retry: { limit: 1 }, ttlAfterFinished: '1h', ttlAfterFailed: '1h' };

  it('what is about attempts and their ends, where it is on a schedule', () => {
    const told = ['spec.retry', 'spec.ttlAfterFinished', 'spec.ttlAfterFailed'];
    expect(fields(byHand({ ...policy, ...nightly }))).toEqual(told);
    expect(fields(byHand(policy))).toEqual([]);
  });

  it('parallelism, a backoff beside limit 0, and a time zone without a clock', () => {
    expect(fields(byHand({ parallelism: 1 }))).toEqual(['spec.parallelism']);
    expect(fields(byHand({ retry: { limit: 0, backoff: '1m' } }))).toEqual(['spec.retry.backoff']);
    const cron = { schedules: ['@every 1h'], timezone: 'UTC' };
    expect(fields(byHand({ cron }))).toEqual(['spec.cron.timezone']);
  });

  it('nothing where an Order has made it', () => {
    const owner = { apiVersion, kind: 'Order', name: 'o', uid: 'u', controller: true };
    expect(fields(byHand({ ...policy, ...nightly, parallelism: 1 }, { ownerReferences: [owner] }))).toEqual(
      [],
    );
  });
});

describe('a type is told of', () => {
  it('a target that no artifact can have', () => {
    const told = (target: string[]) =>
      fields(artifactType('t', { target, parameters: [{ name: 'place', value: 'a' }] }));
    expect(told(['specOverride', 'place', 'dstRemoteURL'])).toEqual([]);
    expect(told(['specImage', 'image', 'specimage'])).toEqual(['spec.target[1]', 'spec.target[2]']);
  });

  it('a backoff beside limit 0', () => {
    expect(fields(artifactType('t', { retry: { limit: 0, backoff: '1m' } }))).toEqual(['spec.retry.backoff']);
  });
});

describe('an Endpoint is told of', () => {
  const told = (spec: Parameters<typeof endpoint>[1]) => fields(endpoint('e', spec));
  const ca = { caSecretRef: { name: 'ca' } };
  const secretRef = { name: 'login' };

  it('authorities to trust where any certificate is accepted', () => {
    expect(told({ tls: { ...ca, insecureSkipVerify: true } })).toEqual(['spec.tls.caSecretRef']);
    expect(told({ tls: { ...ca, insecureSkipVerify: false } })).toEqual([]);
  });

  it('a policy where nothing is written', () => {
    const policyRef = { name: 'oci-signed' };
    expect(told({ policyRef, usage: 'PullOnly' })).toEqual(['spec.policyRef']);
    expect(told({ policyRef, usage: 'PushOnly' })).toEqual([]);
  });

  it('no hosts of a token service, which anonymous pulls ask as well', () => {
    expect(told({ tokenHosts: ['auth.example.com'] })).toEqual([]);
  });

  it('what is about a connection, where it is a folder', () => {
    const hosts = { tokenHosts: ['a.example.com'], redirectHosts: ['b.example.com'] };
    const given = { remoteURL: 'file:///release', secretRef, tls: ca, ...hosts };
    const connected = ['spec.tls', 'spec.tokenHosts', 'spec.redirectHosts'];
    expect(told({ ...given, type: 'bundle' })).toEqual(connected);
    expect(told({ ...given, type: 'oci-layout' })).toEqual([...connected, 'spec.secretRef']);
    expect(told({ type: 'bundle', remoteURL: 'file:///release', secretRef })).toEqual([]);
  });
});
