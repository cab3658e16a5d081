import { describe, expect, it } from 'vitest';
import { textDigest } from '../values/hash.ts';
import { parsePolicies, policiesText } from './policies.ts';
import { parsePolicy } from './policy.ts';

const [small, signed] = ['{"maxBytes":5}', '{"requiredSbom":true}'];
const ofType = { from: 'artifact type "oci"', text: small };
const ofEndpoint = { from: 'Endpoint "to" (type "signed")', text: signed };

describe('the policies of a job', () => {
  it('are the text of the type where nothing else is enforced', () => {
    expect(policiesText(ofType, [])).toBe(small);
    expect(policiesText(undefined, [])).toBeUndefined();
    expect(parsePolicies(small)).toEqual([{ digest: textDigest(small), policy: { maxBytes: 5 } }]);
  });

  it('are all of them, each once, with where it comes from', () => {
    const text = policiesText(ofType, [ofEndpoint, { from: 'setting', text: small }]) ?? '';
    expect(parsePolicies(text)).toEqual([
      { from: 'artifact type "oci", setting', digest: textDigest(small), policy: { maxBytes: 5 } },
      { from: ofEndpoint.from, digest: textDigest(signed), policy: { requiredSbom: true } },
    ]);
  });

  it('cannot be read by a worker that knows one policy only, which then moves nothing', () => {
    const text = policiesText(undefined, [ofEndpoint]) ?? '';
    expect(() => parsePolicy(text)).toThrow('policy must be an object');
  });

  it.each([
    ['[]', 'policy must be a list that is not empty'],
    ['[', 'policy must be JSON'],
    ['[{"from":"a"}]', 'policy[0].text must be a string that is not empty'],
    ['[{"from":"Endpoint \\"e\\"","text":"{\\"maxByte\\":1}"}]', 'Endpoint "e": policy.maxByte is not known'],
  ])('that cannot be read are refused: %s', (text, message) => {
    expect(() => parsePolicies(text)).toThrow(message);
  });
});
