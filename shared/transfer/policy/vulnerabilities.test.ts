import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import type { ScanReport, Severity } from './scan-report.ts';
import { severities } from './scan-report.ts';
import { type Scans, tooManyFindings, unscanned, type VulnerabilityRule } from './vulnerabilities.ts';

const hour = 3_600_000;
const nowMs = Date.parse('2026-06-01T00:00:00Z');
const [one, two] = ['a', 'b'].map((letter) => `sha256:${letter.repeat(64)}`) as [string, string];
const config = `sha256:${'c'.repeat(64)}`;

function report(subject: string, found: Partial<Record<Severity, string[]>> = {}, ageHours = 1): ScanReport {
  const findings = severities.flatMap((severity) => (found[severity] ?? []).map((id) => ({ id, severity })));
  return { scanner: 'trivy', subjects: new Set([subject]), madeMs: nowMs - ageHours * hour, findings };
}

const scans = (...reports: ScanReport[]): Scans => ({
  images: [{ digest: one, config }, { digest: two }],
  reports,
  nowMs,
});

describe('an image that is not scanned', () => {
  const deny: VulnerabilityRule = { max: { critical: 0 } };
  it.each<[string, VulnerabilityRule | undefined, ScanReport[]]>([
    ['without a rule', undefined, []],
    ['where the rule allows it', { notScanned: 'allow' }, []],
    ['that a report of its config is about', deny, [report(config), report(two)]],
    ['of a report that is young enough', { maxAgeMs: hour }, [report(one), report(two)]],
  ])('is none %s', (_, rule, reports) => expect(unscanned(rule, scans(...reports))).toBeUndefined());

  it.each<[VulnerabilityRule, ScanReport[], RegExp]>([
    [deny, [], new RegExp(`^image ${one} is not scanned: no report of Trivy or Grype names it$`)],
    [deny, [report(one)], new RegExp(`^image ${two} is not scanned`)],
    [{ ...deny, maxAgeMs: hour - 1 }, [report(one)], /is too old, .* \(1 found\)$/],
    [{ ...deny, maxAgeMs: hour }, [{ ...report(one), madeMs: undefined }], /or has no time/],
    [{ ...deny, maxAgeMs: hour }, [report(one, {}, -25)], /in the future/],
  ])('is denied: %j', (rule, reports, found) => expect(unscanned(rule, scans(...reports))).toMatch(found));

  it('is what has no image at all', () => {
    expect(unscanned(deny, { images: [], reports: [], nowMs })).toMatch(/no image that can be scanned/);
  });
});

describe('findings', () => {
  const many = report(one, { critical: ['CVE-1'], high: ['CVE-2', 'CVE-2', 'CVE-3'] });
  it.each<[VulnerabilityRule]>([
    [{}],
    [{ max: { critical: 1, high: 3 } }],
    [{ max: { low: 0, unknown: 0 } }],
    [{ max: { critical: 0, high: 1 }, ignored: ['CVE-1', 'CVE-2'] }],
  ])('are few enough for %j', (rule) => expect(tooManyFindings(rule, scans(many))).toBeUndefined());

  it.each<[VulnerabilityRule, ScanReport[], string]>([
    [
      { max: { critical: 0 } },
      [many],
      `image ${one} has 1 findings of severity critical, more than 0: CVE-1 (trivy)`,
    ],
    [
      { max: { high: 2 } },
      [many],
      `image ${one} has 3 findings of severity high, more than 2: CVE-2, CVE-3 (trivy)`,
    ],
    [{ max: { high: 0 } }, [report(two), report(two, { high: ['GHSA-1'] })], `image ${two} has 1 findings`],
    [
      { max: { low: 0 }, notScanned: 'allow' },
      [report(one, { low: ['1', '2', '3', '4', '5', '6'] })],
      '1, 2, 3, 4, 5, ... (trivy)',
    ],
  ])('are too many for %j', (rule, reports, found) =>
    expect(tooManyFindings(rule, scans(...reports))).toContain(found),
  );

  it('are never fewer with another report', () => {
    const counts = fc.record(Object.fromEntries(severities.map((each) => [each, fc.nat(3)])));
    const max = fc.record(Object.fromEntries(severities.map((each) => [each, fc.nat(3)])), {
      requiredKeys: [],
    });
    const reports = counts.map((each) =>
      report(
        one,
        Object.fromEntries(Object.entries(each).map(([name, n]) => [name, Array(n).fill(`CVE-${name}`)])),
      ),
    );
    fc.assert(
      fc.property(max, reports, reports, (limits, first, second) => {
        if (tooManyFindings({ max: limits }, scans(first)) === undefined) return;
        expect(tooManyFindings({ max: limits }, scans(second, first))).toBeDefined();
      }),
    );
  });
});
