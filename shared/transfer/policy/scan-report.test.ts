import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { grypeReport, trivyReport } from '../testing/reports.ts';
import { parseReport, severities } from './scan-report.ts';

const config = `sha256:${'c'.repeat(64)}`;
const manifest = `sha256:${'d'.repeat(64)}`;
const found = [
  { id: 'CVE-2024-1', severity: 'CRITICAL' },
  { id: 'CVE-2024-2', severity: 'High' },
  { id: 'CVE-2024-3', severity: 'Negligible' },
  { id: 'CVE-2024-4', severity: 'dreadful' },
];
const findings = [
  { id: 'CVE-2024-1', severity: 'critical' },
  { id: 'CVE-2024-2', severity: 'high' },
  { id: 'CVE-2024-3', severity: 'low' },
  { id: 'CVE-2024-4', severity: 'unknown' },
];
const madeMs = Date.parse('2026-05-31T12:00:00.123Z');

describe('a report', () => {
  it('of Trivy is read', () => {
    const subjects = new Set([config]);
    expect(parseReport(trivyReport(config, found))).toEqual({ scanner: 'trivy', subjects, madeMs, findings });
    expect(parseReport(trivyReport(config))).toMatchObject({ findings: [] });
  });

  it('of Grype is read', () => {
    const target = { manifestDigest: manifest, imageID: config, repoDigests: [`r.io/app@${manifest}`] };
    const subjects = new Set([config, manifest]);
    expect(parseReport(grypeReport(target, found))).toEqual({ scanner: 'grype', subjects, madeMs, findings });
  });

  it.each<[string, object]>([
    ['another schema', { ...trivyReport(config), SchemaVersion: 1 }],
    ['no packages', { ...trivyReport(config), Results: [] }],
    ['no results', { ...trivyReport(config), Results: undefined }],
    ['secrets alone', { ...trivyReport(config), Results: [{ Target: 'a', Class: 'secret' }] }],
    ['another program', { ...grypeReport({}), descriptor: { name: 'syft' } }],
    ['matches that are no list', { ...grypeReport({}), matches: {} }],
    ['a list', [trivyReport(config)]],
  ])('with %s is none', (_, value) => expect(parseReport(value)).toBeUndefined());

  it('keeps findings that it does not recognise', () => {
    const odd = { ...grypeReport({}), matches: [{}, null, { vulnerability: { id: 5, severity: ['x'] } }] };
    expect(parseReport(odd)?.findings).toEqual(Array(3).fill({ id: '', severity: 'unknown' }));
  });

  it('is read from any JSON, or rejected', () => {
    const parts = fc.constantFrom('SchemaVersion', 'Metadata', 'Results', 'matches', 'descriptor', 'source');
    const near = fc
      .tuple(fc.constantFrom(trivyReport(config, found), grypeReport({ imageID: config }, found)), parts)
      .chain(([report, part]) => fc.jsonValue().map((value) => ({ ...report, [part]: value })));
    const inside = fc.array(fc.jsonValue()).map((Vulnerabilities) => ({
      ...trivyReport(config),
      Results: [{ Class: 'lang-pkgs', Vulnerabilities }],
    }));
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), near, inside), (value) => {
        for (const { severity, id } of parseReport(value)?.findings ?? []) {
          expect(severities).toContain(severity);
          expect(id.length).toBeLessThanOrEqual(100);
        }
      }),
    );
  });
});
