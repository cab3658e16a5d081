import { type ScanReport, type Severity, severities } from './scan-report.ts';

/** Limits for the vulnerabilities of each image of an artifact. */
export interface VulnerabilityRule {
  /** Maximum number of findings per severity; severities that are not listed are unlimited. */
  max?: { readonly [Name in Severity]?: number };
  /** Identifiers to ignore, such as CVE-2024-1234. */
  ignored?: readonly string[];
  /** Reports older than this, in milliseconds, are ignored. */
  maxAgeMs?: number;
  /** Public keys as PEM: reports attached to the artifact count if one of these keys signed them. */
  signers?: readonly string[];
  /** What to do with an image without a report; default `deny`. */
  notScanned?: 'deny' | 'allow';
}

/** The digests by which reports identify an image. */
export interface ScannedImage {
  digest: string;
  /** The digest of its config, which scanners report as the image ID. */
  config?: string | undefined;
}

export interface Scans {
  images: readonly ScannedImage[];
  reports: readonly ScanReport[];
  nowMs: number;
}

/** Tolerance for the clocks of scanners. */
const skewMs = 24 * 3_600_000;
const shownIDs = 5;

/** Returns the first image without a usable report, as the end of a sentence. */
export function unscanned(rule: VulnerabilityRule | undefined, scans: Scans): string | undefined {
  if (rule === undefined || rule.notScanned === 'allow') return undefined;
  if (scans.images.length === 0) return 'it has no image that can be scanned';
  const image = scans.images.find((each) => reportsOf(each, rule, scans).length === 0);
  if (image === undefined) return undefined;
  const older = reportsOf(image, {}, scans).length;
  const why =
    older > 0 ? `is too old, has a time in the future, or has no time (${older} found)` : 'names it';
  return `image ${image.digest} is not scanned: ${older > 0 ? 'every report' : 'no report of Trivy or Grype'} ${why}`;
}

/** Returns the first image with more findings than the rule allows, in any of its reports. */
export function tooManyFindings(rule: VulnerabilityRule | undefined, scans: Scans): string | undefined {
  const ignored = new Set(rule?.ignored);
  for (const image of scans.images)
    for (const { scanner, findings } of reportsOf(image, rule ?? {}, scans))
      for (const severity of severities) {
        const most = rule?.max?.[severity];
        const found = findings.filter((each) => each.severity === severity && !ignored.has(each.id));
        if (most === undefined || found.length <= most) continue;
        const ids = [...new Set(found.map(({ id }) => id))];
        const shown = `${ids.slice(0, shownIDs).join(', ')}${ids.length > shownIDs ? ', ...' : ''}`;
        return `image ${image.digest} has ${found.length} findings of severity ${severity}, more than ${most}: ${shown} (${scanner})`;
      }
  return undefined;
}

/** The usable reports of an image, by digest of manifest or config: a report about an index covers only one of its platforms. */
function reportsOf(
  { digest, config }: ScannedImage,
  { maxAgeMs }: VulnerabilityRule,
  { reports, nowMs }: Scans,
): ScanReport[] {
  const counts = ({ madeMs }: ScanReport): boolean =>
    maxAgeMs === undefined ||
    (madeMs !== undefined && nowMs - madeMs <= maxAgeMs && madeMs - nowMs <= skewMs);
  return reports.filter(
    (report) =>
      (report.subjects.has(digest) || (config !== undefined && report.subjects.has(config))) &&
      counts(report),
  );
}
