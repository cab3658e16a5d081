import { describe, expect, it } from 'vitest';
import { anyCharacter, fc } from '#shared/base/testing';
import { allowsHost } from './hosts.ts';
import { isSettingKey, parseSettings, type SettingKey, settingsTable } from './settings.ts';

const problemOf = (key: string, text: string) => parseSettings({ [key]: text }).problems[0];

describe('parseSettings', () => {
  it('reads every setting', () => {
    const { settings, problems } = parseSettings({
      'defaults.onChange': 'Keep',
      'defaults.retry.limit': '5',
      'defaults.retry.backoff': ' 1m\n',
      'enforced.revisionHistoryLimit': '0',
      'limits.cronInterval': '1h',
      'limits.endpointHosts': 'a.example, *.b.example:5000\n[::1]:5000',
      'limits.endpointTypes': 'oci,helm',
      'probes.allowedRanges': '127.0.0.0/8,::1/128',
      'limits.artifactsPerOrder': '',
    });
    expect(problems).toEqual([]);
    expect(settings).toEqual({
      'defaults.onChange': 'Keep',
      'defaults.retry.limit': 5,
      'defaults.retry.backoff': '1m',
      'enforced.revisionHistoryLimit': 0,
      'limits.cronInterval': 3_600_000,
      'limits.endpointHosts': ['a.example', '*.b.example:5000', '[::1]:5000'],
      'limits.endpointTypes': ['oci', 'helm'],
      'probes.allowedRanges': [
        ['127.0.0.0', 8],
        ['::1', 128],
      ],
    });
  });

  it.each([
    ['defaults.onChange', 'rerun', 'must be one of Rerun, RerunUnfinished, Keep, not "rerun"'],
    ['defaults.retry.limit', '101', 'must be a whole number from 0 to 100, not "101"'],
    ['defaults.retry.limit', '-1', 'must be a whole number from 0 to 100, not "-1"'],
    ['defaults.ttl', 'soon', 'must be a duration such as 90s, 1h30m or 0, at most ten years, not "soon"'],
    ['limits.artifactsPerOrder', '0', 'must be a whole number from 1 to 1000000, not "0"'],
    ['limits.cronInterval', '30s', 'must be a duration of whole minutes from 1m to 24h, not "30s"'],
    ['limits.cronInterval', '25h', 'must be a duration of whole minutes from 1m to 24h, not "25h"'],
    ['limits.artefactsPerOrder', '1', 'there is no such setting'],
    ['toString', '1', 'there is no such setting'],
    ['__proto__.x', '1', 'there is no such setting'],
  ])('names %s: %s', (key, text, message) => {
    expect(problemOf(key, text)).toEqual({ key, message });
  });

  it.each(['https://a.example', 'A.example', '*', 'a..b', 'a.example:x', '*.*.a', '-a'])(
    'refuses the host %s',
    (text) => expect(problemOf('limits.endpointHosts', text)?.message).toMatch(/^must be hosts such as/),
  );

  it('keeps the last good value of a wrong key, and of no other', () => {
    const { settings: before } = parseSettings({
      'defaults.onChange': 'Keep',
      'limits.artifactsPerOrder': '10',
      'limits.ordersPerNamespace': '3',
    });
    const after = parseSettings(
      { 'limits.artifactsPerOrder': 'ten', 'limits.ordersPerNamespace': '4', 'enforced.onChange': 'never' },
      before,
    );
    expect(after.settings).toEqual({ 'limits.artifactsPerOrder': 10, 'limits.ordersPerNamespace': 4 });
    expect(after.problems.map(({ key }) => key)).toEqual(['enforced.onChange', 'limits.artifactsPerOrder']);
  });

  it('reads the policies that are enforced, in one namespace or in all', () => {
    const read = (text: string) => parseSettings({ 'enforced.policy': text });
    expect(read('baseline, prod=oci-signed').settings).toEqual({
      'enforced.policy': [{ type: 'baseline' }, { namespace: 'prod', type: 'oci-signed' }],
    });
    expect(read(' ').settings).toEqual({});
  });

  it.each(['Baseline', 'prod=', '=baseline', 'a=b=c', 'prod=Oci', 'a b=c d=E'])(
    'lets nothing be moved while the policies that are enforced are wrong: %s',
    (text) => {
      // Whatever held before: another process has not known that.
      const { settings, problems } = parseSettings({ 'enforced.policy': text }, { 'enforced.policy': [] });
      expect(settings).toEqual({ 'enforced.policy': [{ type: '' }] });
      expect(problems[0]?.message).toMatch(/nothing is moved until it is corrected$/);
    },
  );

  it('copes with whatever a ConfigMap holds, and names a bounded part of it', () => {
    const text = fc.string({ unit: anyCharacter, maxLength: 300 });
    const key = fc.oneof(text, fc.constantFrom(...Object.keys(settingsTable)));
    fc.assert(
      fc.property(fc.dictionary(key, text, { maxKeys: 40 }), (data) => {
        const { settings, problems } = parseSettings(data);
        expect(problems.length).toBeLessThanOrEqual(20);
        for (const { key: named } of problems) {
          const setting = isSettingKey(named) ? settingsTable[named] : undefined;
          const kept = setting && 'wrong' in setting ? setting.wrong : undefined;
          expect(settings[named as SettingKey]).toEqual(kept);
        }
        for (const { message } of problems) expect(message.length).toBeLessThan(300);
      }),
    );
  });
});

describe('ranges of addresses', () => {
  it.each(['10.0.0.0', '10.0.0.0/33', 'localhost/8', '::1/129', '::1%lo/128', '/8', '10.0.0.0/8, 1.2.3/8'])(
    'refuses %s',
    (text) =>
      expect(problemOf('probes.allowedRanges', text)?.message).toMatch(
        /^must be ranges of addresses such as/,
      ),
  );

  it('takes all of the addresses there are', () => {
    const { settings } = parseSettings({ 'probes.allowedRanges': '0.0.0.0/0 ::/0' });
    expect(settings['probes.allowedRanges']).toHaveLength(2);
  });
});

describe('allowsHost', () => {
  it.each([
    ['a.example', 'a.example', 443, true],
    ['a.example', 'b.a.example', 443, false],
    ['*.a.example', 'c.b.a.example', 443, true],
    ['*.a.example', 'a.example', 443, false],
    ['*.a.example', 'evila.example', 443, false],
    ['a.example:5000', 'a.example', 5000, true],
    ['a.example:5000', 'a.example', 443, false],
    ['a.example:443', 'a.example', 443, true],
    ['[::1]', '[::1]', 80, true],
    ['[::1]:5000', '[::1]', 80, false],
    ['10.0.0.1', '10.0.0.10', 443, false],
  ])('%s, %s:%i: %s', (pattern, host, port, allowed) => {
    expect(allowsHost([pattern], host, port)).toBe(allowed);
  });
});
