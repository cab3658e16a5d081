import { isRecord } from '#shared/base/meta';

/** Most severe first; Grype's `negligible` counts as low. */
export const severities = ['critical', 'high', 'medium', 'low', 'unknown'] as const;
export type Severity = (typeof severities)[number];

/** The report of a scanner about one image. */
export interface ScanReport {
  scanner: 'trivy' | 'grype';
  /** Digests of the scanned manifest or its config. */
  subjects: ReadonlySet<string>;
  /** The time of the scan, in milliseconds since the epoch; undefined if the report has none. */
  madeMs: number | undefined;
  /** As listed by the scanner: one vulnerability in two packages counts twice. */
  findings: readonly Finding[];
}

export interface Finding {
  id: string;
  severity: Severity;
}

/** The predicate of `cosign attest --type vuln`, whose `scanner.result` is the report. */
export const vulnerabilityPredicate = 'https://cosign.sigstore.dev/attestation/vuln/v1';

/** Beyond any real image; a value with more findings is not a report. */
const maxFindings = 200_000;

/**
 * Parses a JSON report of `trivy image` or `grype`. Undefined for anything else, and for a Trivy report without OS or language packages,
 * because nothing was scanned.
 */
export function parseReport(value: unknown): ScanReport | undefined {
  if (!isRecord(value)) return undefined;
  const report = trivyReport(value) ?? grypeReport(value);
  return report === undefined || report.findings.length > maxFindings ? undefined : report;
}

/** github.com/aquasecurity/trivy, pkg/types/report.go, schema version 2. */
function trivyReport({
  SchemaVersion,
  CreatedAt,
  Metadata,
  Results,
}: Record<string, unknown>): ScanReport | undefined {
  if (SchemaVersion !== 2 || !isRecord(Metadata)) return undefined;
  const scanned = recordsIn(Results).filter(({ Class }) => Class === 'os-pkgs' || Class === 'lang-pkgs');
  if (scanned.length === 0) return undefined;
  const found = scanned.flatMap(({ Vulnerabilities }) => recordsIn(Vulnerabilities));
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

/** Parses a finding. An unrecognised one counts with severity `unknown`, so that it is not lost. */
function findingOf(id: unknown, severity: unknown): Finding {
  const given = typeof severity === 'string' ? severity.toLowerCase() : '';
  const known = given === 'negligible' ? 'low' : severities.find((each) => each === given);
  return { id: typeof id === 'string' ? id.slice(0, 100) : '', severity: known ?? 'unknown' };
}

/** Extracts digests, alone or after a repository name. */
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
