import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import type { Pod, PodContainer, PodVolume } from '../kinds/core.ts';
import { endOfLog, mayQuoteLog } from './log-tail.ts';

const bounds = { lines: 30, bytes: 4096 };

describe('endOfLog', () => {
  it('has at most so many lines and bytes, and of a log that fits all of it', () => {
    const line = fc.string({ unit: 'grapheme', maxLength: 200 }).map((text) => text.replaceAll(/\s/g, '_'));
    fc.assert(
      fc.property(fc.array(line, { maxLength: 60 }), (lines) => {
        const end = endOfLog(`${lines.join('\n')}\n`, bounds);
        expect(Buffer.byteLength(end)).toBeLessThanOrEqual(bounds.bytes);
        expect(end.split('\n').length).toBeLessThanOrEqual(bounds.lines);
      }),
    );
    expect(endOfLog('one\r\ntwo\n\n', bounds)).toBe('one\ntwo');
  });

  it('cuts between lines where it can, and between characters', () => {
    expect(endOfLog('aaaa\nbbbb\ncccc\n', { lines: 2, bytes: 100 })).toBe('bbbb\ncccc');
    expect(endOfLog('aaaa\nbbbb\ncccc\n', { lines: 9, bytes: 8 })).toBe('cccc');
    expect(endOfLog('ééééé', { lines: 9, bytes: 9 })).toBe('…éé');
  });

  it('shows nothing that changes a terminal, and no credential, even one across lines that are cut off', () => {
    expect(endOfLog('\x1b[31mred\x1b[0m\n', bounds)).toBe('\\x1b[31mred\\x1b[0m');
    expect(endOfLog('TOKEN=abc', bounds)).toBe('TOKEN=***');
    const key = `-----BEGIN PRIVATE KEY-----\n${'QUJD\n'.repeat(50)}-----END PRIVATE KEY-----\n`;
    expect(endOfLog(`${key}failed\n`, bounds)).toBe('***\nfailed');
  });
});

const podOf = (main: Partial<PodContainer>, volumes: PodVolume[] = []): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: {
    containers: [
      { name: 'wait', envFrom: [{ secretRef: {} }] },
      { name: 'main', ...main },
    ],
    volumes,
  },
});
const volumeMounts = [{ name: 'v' }];

describe('mayQuoteLog', () => {
  it.each<[string, Pod, boolean]>([
    ['sees no Secret', podOf({ volumeMounts }, [{ name: 'v' }, { name: 'other', secret: {} }]), true],
    ['mounts a Secret', podOf({ volumeMounts }, [{ name: 'v', secret: {} }]), false],
    ['mounts one by CSI', podOf({ volumeMounts }, [{ name: 'v', csi: {} }]), false],
    [
      'mounts one among others',
      podOf({ volumeMounts }, [{ name: 'v', projected: { sources: [{}, { secret: {} }] } }]),
      false,
    ],
    ['mounts its token', podOf({ volumeMounts }, [{ name: 'v', projected: { sources: [{}] } }]), true],
    ['has one in a variable', podOf({ env: [{ valueFrom: { secretKeyRef: {} } }] }), false],
    ['has one as variables', podOf({ envFrom: [{ secretRef: {} }] }), false],
    [
      'has the word of its author',
      podOf({ volumeMounts, terminationMessagePolicy: 'FallbackToLogsOnError' }, [{ name: 'v', secret: {} }]),
      true,
    ],
    ['is not there', { ...podOf({}), spec: { containers: [{ name: 'other' }] } }, false],
  ])('of a main container that %s', (_, pod, expected) => {
    expect(mayQuoteLog(pod)).toBe(expected);
  });
});
