import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { fc } from '#shared/base/testing';
import { decodeReview } from './review-protobuf.ts';

const magic = [0x6b, 0x38, 0x73, 0x00];

/** One length-delimited field; texts and messages here are shorter than 128 bytes each or get a two-byte length. */
function field(number: number, content: string | readonly number[]): number[] {
  const bytes = typeof content === 'string' ? [...new TextEncoder().encode(content)] : content;
  const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 0x7f) | 0x80, bytes.length >> 7];
  return [(number << 3) | 2, ...length, ...bytes];
}

function body(apiVersion: string, kind: string, raw: readonly number[]): Uint8Array {
  const typeMeta = [...field(1, apiVersion), ...field(2, kind)];
  return Uint8Array.from([
    ...magic,
    ...field(1, typeMeta),
    ...field(2, raw),
    ...field(3, ''),
    ...field(4, ''),
  ]);
}

const access = (spec: number[]) =>
  body('authorization.k8s.io/v1', 'SelfSubjectAccessReview', [
    ...field(1, []),
    ...field(2, spec),
    ...field(3, [0x08, 0]),
  ]);

function refusal(bytes: Uint8Array): string {
  try {
    decodeReview(bytes);
  } catch (caught) {
    return caught instanceof ArcError ? caught.code : 'another error';
  }
  return 'none';
}

describe('decodeReview', () => {
  it('reads a review of a resource', () => {
    const names = ['ns', 'create', 'arc.example.com', 'v1alpha1', 'orders', 'status', 'one'];
    const attributes = names.flatMap((text, index) => field(index + 1, text));
    expect(decodeReview(access(field(1, [...attributes, ...field(8, field(1, 'x=y'))])))).toEqual({
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      metadata: {},
      spec: {
        resourceAttributes: {
          namespace: 'ns',
          verb: 'create',
          group: 'arc.example.com',
          version: 'v1alpha1',
          resource: 'orders',
          subresource: 'status',
          name: 'one',
        },
      },
    });
  });

  it('reads a review of a path', () => {
    expect(decodeReview(access(field(2, [...field(1, '/metrics'), ...field(2, 'get')])))).toMatchObject({
      spec: { nonResourceAttributes: { path: '/metrics', verb: 'get' } },
    });
  });

  it('reads a rules review, and a review of oneself that is empty', () => {
    expect(
      decodeReview(body('authorization.k8s.io/v1', 'SelfSubjectRulesReview', field(2, field(1, 'default')))),
    ).toMatchObject({ kind: 'SelfSubjectRulesReview', spec: { namespace: 'default' } });
    expect(decodeReview(body('authentication.k8s.io/v1', 'SelfSubjectReview', []))).toEqual({
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'SelfSubjectReview',
      metadata: {},
    });
  });

  it('reads DeleteOptions of any group, without metadata', () => {
    const options = [
      ...[0x08, 30],
      ...field(2, [...field(1, 'uid-1'), ...field(2, '17')]),
      ...[0x18, 0],
      ...field(4, 'Foreground'),
      ...field(5, 'All'),
      ...field(5, 'More'),
    ];
    expect(decodeReview(body('meta.k8s.io/v1', 'DeleteOptions', options))).toEqual({
      apiVersion: 'meta.k8s.io/v1',
      kind: 'DeleteOptions',
      gracePeriodSeconds: 30,
      preconditions: { uid: 'uid-1', resourceVersion: '17' },
      orphanDependents: false,
      propagationPolicy: 'Foreground',
      dryRun: ['All', 'More'],
    });
  });

  it('sends clients with other kinds to JSON', () => {
    expect(refusal(body('v1', 'Pod', []))).toBe('UnsupportedMediaType');
    expect(refusal(body('authorization.k8s.io/v1beta1', 'SelfSubjectAccessReview', []))).toBe(
      'UnsupportedMediaType',
    );
    expect(refusal(Uint8Array.from(magic))).toBe('UnsupportedMediaType');
  });

  it.each([
    ['nothing', []],
    ['JSON', [...new TextEncoder().encode('{"kind":"SelfSubjectReview"}')]],
    ['half the mark', [0x6b, 0x38]],
    ['an envelope cut short', [...magic, 0x0a, 9, 1]],
    ['a type that is a number', [...magic, 0x08, 1]],
    ['a kind that is no UTF-8', [...magic, 0x0a, 3, 0x12, 1, 0xff]],
  ])('refuses %s', (_, bytes) => {
    expect(refusal(Uint8Array.from(bytes))).toBe('BadRequest');
  });

  it('reads nothing from a truncated review that it does not contain', () => {
    const whole = access(field(1, [...field(2, 'get'), ...field(5, 'orders')]));
    for (let length = 0; length < whole.length; length += 1) {
      const cut = whole.slice(0, length);
      if (refusal(cut) === 'none') expect(decodeReview(whole)).toMatchObject(decodeReview(cut));
    }
  });

  it('survives any bytes behind the mark', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(['none', 'BadRequest', 'UnsupportedMediaType']).toContain(
          refusal(Uint8Array.from([...magic, ...bytes])),
        );
      }),
    );
  });

  it('survives any content of a review', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        expect(['none', 'BadRequest']).toContain(refusal(access([...bytes])));
      }),
    );
  });
});
