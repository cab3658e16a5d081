import { isRecord } from '#shared/base/meta';

/** From the worst to the least; `negligible` of Grype counts as low. */
export const severities = ['critical', 'high', 'medium', 'low', 'unknown'] as const;
export type Severity = (typeof severities)[number];

/** What a scanner said about one image. */
export interface ScanReport {
  scanner: 'trivy' | 'grype';
  /** The digests of what it scanned, of a manifest or its config. */
  subjects: ReadonlySet<string>;
  /** When it was made, in milliseconds since 1970; undefined where it does not say. */
  madeMs: number | undefined;
  /** As the scanner lists them: one vulnerability in two packages counts twice. */
  findings: readonly Finding[];
}

export interface Finding {
  id: string;
  severity: Severity;
}

/** The predicate of `cosign attest --type vuln`, whose `scanner.result` is the report. */
export const vulnerabilityPredicate = 'https://cosign.sigstore.dev/attestation/vuln/v1';

/** More than any image has; what lists more is no report. */
const mostFindings = 200_000;

/**
 * Reads a parsed JSON report of `trivy image` or `grype`. Undefined for anything else, and for a report of Trivy that lists no packages of a system or
 * a language: then nothing was looked at.
 */
export function parseReport(value: unknown): ScanReport | undefined {
  if (!isRecord(value)) return undefined;
  const report = trivyReport(value) ?? grypeReport(value);
  return report === undefined || report.findings.length > mostFindings ? undefined : report;
}

/** github.com/aquasecurity/trivy, pkg/types/report.go, schema version 2. */
function trivyReport({
  SchemaVersion,
  CreatedAt,
  Metadata,
  Results,
}: Record<string, unknown>): ScanReport | undefined {
  if (SchemaVersion !== 2 || !isRecord(Metadata)) return undefined;
  const looked = recordsIn(Results).filter(({ Class }) => Class === 'os-pkgs' || Class === 'lang-pkgs');
  if (looked.length === 0) return undefined;
  const found = looked.flatMap(({ Vulnerabilities }) => recordsIn(Vulnerabilities));
  return {
    scanner: 'trivy',
    subjects: digestsIn([Metadata.ImageID, ...listIn(Metadata.RepoDigests)]),
    madeMs: timeOf(CreatedAt),
    findings: found.map(({ VulnerabilityID, Severity }) => findingOf(VulnerabilityID, Severity)),
  };
}

/** github.com/anchore/grype, grype/presenter/models/document.go. */
function grypeReport({ matches, source, descriptor }: Record<string, unknown>): ScanReport | undefined {
  if (!Array.isArray(matches) || !isRecord(descriptor) || descriptor.name !== 'grype') return undefined;
  const target = isRecord(source) && isRecord(source.target) ? source.target : {};
  return {
    scanner: 'grype',
    subjects: digestsIn([target.imageID, target.manifestDigest, ...listIn(target.repoDigests)]),
    madeMs: timeOf(descriptor.timestamp),
    findings: matches.map((match: unknown) => {
      const { vulnerability } = isRecord(match) ? match : {};
      const { id, severity } = isRecord(vulnerability) ? vulnerability : {};
      return findingOf(id, severity);
    }),
  };
}

/** What is not understood counts as a vulnerability that nobody knows more about: it must not be lost. */
function findingOf(id: unknown, severity: unknown): Finding {
  const given = typeof severity === 'string' ? severity.toLowerCase() : '';
  const known = given === 'negligible' ? 'low' : severities.find((each) => each === given);
  return { id: typeof id === 'string' ? id.slice(0, 100) : '', severity: known ?? 'unknown' };
}

/** Digests, alone or behind the name of a repository. */
function digestsIn(values: readonly unknown[]): Set<string> {
  return new Set(
    values.flatMap((value) => {
      const digest = typeof value === 'string' ? value.slice(value.lastIndexOf('@') + 1) : '';
      return /^sha(256|512):[0-9a-f]{64,128}$/.test(digest) ? [digest] : [];
    }),
  );
}

function listIn(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function recordsIn(value: unknown): Record<string, unknown>[] {
  return listIn(value).filter(isRecord);
}

function timeOf(value: unknown): number | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
