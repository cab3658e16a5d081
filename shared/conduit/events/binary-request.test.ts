import { CloudEvent } from 'cloudevents';
import { describe, expect, it } from 'vitest';
import { toBinaryRequest } from './binary-request.ts';

const base = { id: 'i', source: '/s', type: 't', time: '2026-01-02T03:04:05.000Z' };

describe('toBinaryRequest', () => {
  it('puts attributes into headers and data into the body', () => {
    expect(toBinaryRequest(new CloudEvent({ ...base, subject: 'a b', count: 5, data: { x: 'ä' } }))).toEqual({
      headers: {
        'ce-specversion': '1.0',
        'ce-id': 'i',
        'ce-source': '/s',
        'ce-type': 't',
        'ce-time': '2026-01-02T03:04:05.000Z',
        'ce-subject': 'a%20b',
        'ce-count': '5',
        'content-type': 'application/json',
      },
      body: '{"x":"ä"}',
    });
  });

  it('sends no content type and no body without data', () => {
    const { headers, body } = toBinaryRequest(new CloudEvent(base));
    expect(body).toBe('');
    expect(Object.keys(headers)).not.toContain('content-type');
  });

  it('refuses data that is not JSON', () => {
    const text = new CloudEvent({ ...base, datacontenttype: 'text/plain', data: 'x' });
    const bytes = new CloudEvent({ ...base, data: new Uint32Array([1]) });
    for (const event of [text, bytes]) expect(() => toBinaryRequest(event)).toThrow(/not JSON/);
  });
});
