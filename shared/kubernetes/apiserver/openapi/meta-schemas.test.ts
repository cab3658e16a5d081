import { describe, expect, it } from 'vitest';
import { metaPrefix, metaSchemas, objectMetaSchema } from './meta-schemas.ts';

describe('definitions of meta/v1', () => {
  it('refer to each other only', () => {
    const names = [...JSON.stringify(metaSchemas).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(
      ([, name]) => name,
    );
    expect(names.length).toBeGreaterThan(5);
    for (const name of names)
      expect(Object.keys(metaSchemas).map((short) => `${metaPrefix}.${short}`)).toContain(name);
  });
  it('come inlined for checking, with field sets kept whole', () => {
    const entry = objectMetaSchema().properties?.managedFields?.items;
    expect(entry?.properties?.fieldsV1).toMatchObject({ 'x-kubernetes-preserve-unknown-fields': true });
    expect(objectMetaSchema().properties?.ownerReferences?.items?.properties).toHaveProperty('uid');
    expect(objectMetaSchema().properties?.labels).not.toHaveProperty('x-kubernetes-preserve-unknown-fields');
    expect(objectMetaSchema()).toBe(objectMetaSchema());
  });
});
