import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../kinds/definition.ts';
import { aWidget, sampleTime, sampleWriter } from '../testing/sample-widget.ts';
import { trackUpdate, type Writer } from './track-update.ts';

/** The object that `writer` makes of `live`, with its owners. */
function write(writer: Writer, live: KubeObject | undefined, spec: object, supplied?: unknown): KubeObject {
  const next = aWidget(spec);
  const given = supplied === undefined ? live?.metadata.managedFields : supplied;
  const managedFields = trackUpdate(writer, live, next, given);
  return managedFields ? { ...next, metadata: { ...next.metadata, managedFields } } : next;
}

interface Entry {
  manager: string;
  time: string;
  fieldsV1: Record<string, object>;
}

const entriesOf = (object: KubeObject) => (object.metadata.managedFields ?? []) as Entry[];
const managersOf = (object: KubeObject) => entriesOf(object).map(({ manager }) => manager);

describe('trackUpdate', () => {
  const made = write(sampleWriter('maker'), undefined, { size: 1, color: 'a' });

  it('gives a creator everything', () => {
    expect(entriesOf(made)).toEqual([
      {
        manager: 'maker',
        operation: 'Update',
        apiVersion: 'test.example.com/v1',
        time: sampleTime,
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:spec': { '.': {}, 'f:color': {}, 'f:size': {} } },
      },
    ]);
  });

  it('rejects too many entries, except for the stored list', () => {
    const [entry] = entriesOf(made);
    const many = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ ...entry, manager: `m${at}`, operation: 'Apply' }));
    expect(managersOf(write(sampleWriter('u'), made, { size: 2 }, many(500)))).toContain('m499');
    const refused = expect.objectContaining({ code: 'RequestEntityTooLarge' });
    expect(() => write(sampleWriter('u'), made, { size: 2 }, many(501))).toThrow(refused);
    const stored = { ...made, metadata: { ...made.metadata, managedFields: many(501) } };
    expect(entriesOf(write(sampleWriter('u'), stored, { size: 2 }, many(501))).length).toBeGreaterThan(500);
  });

  it('gives changed fields to the updater, and removes them from others', () => {
    const changed = write(sampleWriter('u'), made, { size: 2, color: 'a' });
    expect(entriesOf(changed).map(({ manager, fieldsV1 }) => [manager, fieldsV1['f:spec']])).toEqual([
      ['maker', { '.': {}, 'f:color': {} }],
      ['u', { 'f:size': {} }],
    ]);
  });

  it('removes ownership of removed fields, and keeps the time of the manager that removed them', () => {
    const later = sampleWriter('maker', { time: '2026-01-02T00:00:00Z' });
    const [entry] = entriesOf(write(later, made, { size: 1 }));
    expect(entry).toMatchObject({ time: sampleTime, fieldsV1: { 'f:spec': { '.': {}, 'f:size': {} } } });
  });

  it('changes nothing where nothing changes', () => {
    expect(entriesOf(write(sampleWriter('u'), made, { size: 1, color: 'a' }))).toEqual(entriesOf(made));
  });

  it('does not begin to track an object without owners', () => {
    const bare = write(sampleWriter('u'), made, { size: 1 }, []);
    expect(bare.metadata.managedFields).toBeUndefined();
    expect(write(sampleWriter('u'), bare, { size: 5 }).metadata.managedFields).toBeUndefined();
  });

  it('takes owners that the client has sent, but not through the status', () => {
    const own = [{ ...entriesOf(made)[0], manager: 'other' }];
    const spec = { size: 1, color: 'a' };
    expect(managersOf(write(sampleWriter('u'), made, spec, own))).toEqual(['other']);
    expect(managersOf(write(sampleWriter('u', { subresource: 'status' }), made, spec, own))).toEqual([
      'maker',
    ]);
  });

  it('drops entries of versions that are not served any more', () => {
    const own = [{ ...entriesOf(made)[0], apiVersion: 'test.example.com/v0' }];
    expect(managersOf(write(sampleWriter('u'), made, { size: 2, color: 'a' }, own))).toEqual(['u']);
  });

  it('calls a manager without a name unknown', () => {
    expect(managersOf(write(sampleWriter(''), undefined, { size: 1 }))).toEqual(['unknown']);
  });

  it('merges the oldest of more than ten updaters', () => {
    let object: KubeObject | undefined;
    const map: Record<string, string> = {};
    for (let second = 10; second < 25; second++) {
      map[`k${second}`] = 'v';
      object = write(sampleWriter(`u${second}`, { time: `2026-01-01T00:00:${second}Z` }), object, {
        map: { ...map },
      });
    }
    const entries = object ? entriesOf(object) : [];
    expect(entries.map(({ manager }) => manager)).toEqual([
      'ancient-changes',
      ...Array.from({ length: 9 }, (_, index) => `u${index + 16}`),
    ]);
    expect(entries[0]?.time).toBe('2026-01-01T00:00:15Z');
    expect(Object.keys(entries[0]?.fieldsV1['f:spec'] ?? {})).toEqual(['.', 'f:map']);
  });
});
