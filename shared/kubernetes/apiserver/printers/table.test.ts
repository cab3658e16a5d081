import { describe, expect, it } from 'vitest';
import type { KindDefinition, KubeObject } from '../kinds/definition.ts';
import { anOrder, sampleOrder, sampleSecret } from '../testing/sample-kinds.ts';
import { type TableOptions, toTable } from './table.ts';

const now = new Date('2026-01-02T03:04:05Z');
const options: TableOptions = { includeObject: 'Metadata', now, columnDefinitions: true };
const order = anOrder({}, { status: { phase: 'Running', observedGeneration: 2 } });
order.metadata = { ...order.metadata, resourceVersion: '7', creationTimestamp: '2026-01-02T03:03:50Z' };

describe('toTable', () => {
  it('has the name first, then the columns of the kind with their priority, and the age last', () => {
    const table = toTable(sampleOrder, [order], options);
    expect(table).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1' });
    expect(
      table.columnDefinitions?.map(({ name, type, format, priority }) => [name, type, format, priority]),
    ).toEqual([
      ['Name', 'string', 'name', 0],
      ['Phase', 'string', '', 0],
      ['Observed', 'integer', '', 1],
      ['Age', 'date', '', 0],
    ]);
    expect(table.rows[0]?.cells).toEqual(['one', 'Running', 2, '15s']);
  });

  it('shows null for absent values and values of another type', () => {
    const odd = anOrder({}, { status: { phase: null, observedGeneration: 'two' } });
    expect(toTable(sampleOrder, [odd], options).rows[0]?.cells).toEqual(['one', null, null, null]);
  });

  it('adds nothing to a kind that has a column for the name', () => {
    const columns = ['Reason', 'Name'].map((name) => ({
      ...({ name, type: 'string', description: '' } as const),
      value: (object: KubeObject) => (name === 'Name' ? object.metadata.name : 'why'),
    }));
    const table = toTable({ ...sampleSecret, columns }, [order], options);
    expect(table.columnDefinitions?.map(({ name, format }) => `${name} ${format}`)).toEqual([
      'Reason ',
      'Name name',
    ]);
    expect(table.rows[0]?.cells).toEqual(['why', 'one']);
  });

  it('adds no second age to a kind that has an age column', () => {
    const own: KindDefinition = {
      ...sampleSecret,
      columns: [
        { name: 'Age', type: 'date', description: '', value: (object) => object.metadata.creationTimestamp },
      ],
    };
    expect(toTable(own, [order], options).columnDefinitions?.map((column) => column.name)).toEqual([
      'Name',
      'Age',
    ]);
  });

  it('carries with each row nothing, the metadata or the object', () => {
    const object = (includeObject: TableOptions['includeObject']) =>
      toTable(sampleOrder, [order], { ...options, includeObject }).rows[0]?.object;
    expect(object('None')).toBeNull();
    expect(object('Object')).toBe(order);
    expect(object('Metadata')).toEqual({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: order.metadata,
    });
  });

  it('keeps the metadata of the list, and shows the version of a single object', () => {
    const listMeta = { resourceVersion: '9', continue: 'next', remainingItemCount: 3 };
    expect(toTable(sampleOrder, [order], { ...options, listMeta }).metadata).toEqual(listMeta);
    expect(toTable(sampleOrder, [order], options).metadata).toEqual({ resourceVersion: '7' });
    expect(toTable(sampleOrder, [], options)).toMatchObject({ metadata: {}, rows: [] });
  });

  it('leaves out the columns that the watch has sent before', () => {
    expect(
      toTable(sampleOrder, [order], { ...options, columnDefinitions: false }).columnDefinitions,
    ).toBeNull();
  });

  it('prints numbers and booleans in text columns as text', () => {
    const own: KindDefinition = {
      ...sampleSecret,
      columns: [
        { name: 'A', type: 'string', description: '', value: () => true },
        { name: 'B', type: 'integer', description: '', value: () => 2.9 },
        { name: 'C', type: 'boolean', description: '', value: () => false },
        { name: 'D', type: 'date', description: '', value: () => 'never' },
      ],
    };
    expect(toTable(own, [anOrder()], options).rows[0]?.cells.slice(1, 5)).toEqual([
      'true',
      2,
      false,
      '<invalid>',
    ]);
  });
});
