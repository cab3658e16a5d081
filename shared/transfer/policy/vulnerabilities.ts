import { type ScanReport, type Severity, severities } from './scan-report.ts';

/** What may be known to be wrong with each image of an artifact. */
export interface VulnerabilityRule {
  /** So many findings of a severity at most; one that is not named is not limited. */
  max?: { readonly [Name in Severity]?: number };
  /** Identifiers that do not count, such as CVE-2024-1234. */
  ignored?: readonly string[];
  /** Reports that are older, in milliseconds, do not count. */
  maxAgeMs?: number;
  /** Public keys as PEM: a report that is attached to the artifact counts if one of them has signed it. */
  signers?: readonly string[];
  /** Of an image that no report is about; without it, `deny`. */
  notScanned?: 'deny' | 'allow';
}

/** An image as far as reports know it. */
export interface ScannedImage {
  digest: string;
  /** The digest of its config, by which scanners know an image. */
  config?: string | undefined;
}

export interface Scans {
  images: readonly ScannedImage[];
  reports: readonly ScanReport[];
  nowMs: number;
}

/** Reports come from other machines. */
const skewMs = 24 * 3_600_000;
const shownIDs = 5;

/** The first image without a report that counts, as the end of a sentence. */
export function unscanned(rule: VulnerabilityRule | undefined, scans: Scans): string | undefined {
  if (rule === undefined || rule.notScanned === 'allow') return undefined;
  if (scans.images.length === 0) return 'it has no image that can be scanned';
  const image = scans.images.find((each) => reportsOf(each, rule, scans).length === 0);
  if (image === undefined) return undefined;
  const older = reportsOf(image, {}, scans).length;
  const why =
    older > 0
      ? `is too old, says that it was made in the future, or does not say when (${older} found)`
      : 'names it';
  return `image ${image.digest} is not scanned: ${older > 0 ? 'what is there' : 'no report of Trivy or Grype'} ${why}`;
}

/** The first image with more findings than the rule allows, in any of its reports. */
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

/** By digests of images and their configs: a report that names a whole index is about one of its platforms only. */
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
