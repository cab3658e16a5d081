import { describe, expect, it } from 'vitest';
import { managerFromUserAgent, withManagedFields } from './field-manager.ts';

describe('managerFromUserAgent', () => {
  it.each([
    ['kubectl/v1.34.0 (linux/amd64)', 'kubectl'],
    ['curl', 'curl'],
    ['', ''],
    ['a\u0007b/1', 'ab'],
  ])('reads %j as %j', (agent, manager) => {
    expect(managerFromUserAgent(agent)).toBe(manager);
  });

  it('cuts at 128 bytes, between characters', () => {
    expect(managerFromUserAgent('ü'.repeat(100))).toBe('ü'.repeat(64));
    expect(managerFromUserAgent(`x${'ü'.repeat(100)}`)).toBe(`x${'ü'.repeat(63)}`);
  });
});

describe('withManagedFields', () => {
  it('replaces the list, and removes the field without owners', () => {
    const object = { apiVersion: 'v1', kind: 'A', metadata: { name: 'a', managedFields: [{}] } };
    expect(withManagedFields(object, undefined).metadata).toEqual({ name: 'a' });
    expect(withManagedFields(object, []).metadata).toEqual({ name: 'a', managedFields: [] });
  });
});
