import type { KeyObject } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ContentSink, ContentSource } from '../content/content.ts';
import { type Descriptor, type Manifest, ociManifest, parseManifest } from '../content/manifest.ts';
import { imagesOf, placeName } from '../content/own-manifests.ts';
import type { CopyPlan } from '../content/plan.ts';
import type { FoundSbom } from '../policy/attached-sboms.ts';
import { type ReportFile, readReport } from '../policy/reports.ts';
import { digestOf } from '../reference/digest.ts';
import { type Envelope, envelopeOf } from './envelope.ts';
import { type Statement, scanStatement, transferStatement } from './statement.ts';

/** How a transfer is attested. */
export interface AttestOptions {
  /** Signs the attestations; without a key they are unsigned. */
  key?: KeyObject;
  /** The text of the applied policy. */
  policy?: string;
}

export interface AttestInput {
  plan: CopyPlan;
  source: ContentSource;
  destination: ContentSink;
  /** Scan reports; those about images of the plan are attached to them. */
  scans: readonly ReportFile[];
  /** The SBOMs that satisfied the policy. */
  sboms: readonly FoundSbom[];
  /** A temporary folder of the copy. */
  folder: string;
}

const scanners = { trivy: 'aquasecurity/trivy', grype: 'anchore/grype' };
const emptyConfig = Buffer.from('{}');
const maxReports = 50;

/**
 * Returns the artifact with attestations of its transfer and its scans as additional referrers, which are copied like those of the source,
 * before the tag is written. Rejects with a TransferError for an unreadable report.
 */
export async function withAttestations(
  { key, policy }: AttestOptions,
  { plan, source, destination, scans, sboms, folder }: AttestInput,
): Promise<{ plan: CopyPlan; source: ContentSource }> {
  const at = new Date();
  // A folder of its own, because the copies of a batch share theirs.
  const spoolFolder = await mkdtemp(path.join(folder, 'attestations-'));
  const spooled = new Map<string, string>();
  const [from, to] = [placeName(source), placeName(destination)];
  const added: { subject: Manifest; manifest: Manifest }[] = [];

  async function spool(mediaType: string, content: Buffer): Promise<Descriptor> {
    const digest = digestOf(content);
    const file = path.join(spoolFolder, digest.replace(':', '-'));
    await writeFile(file, content);
    spooled.set(digest, file);
    return { mediaType, digest, size: content.length };
  }

  async function add(subject: Manifest, statement: Statement): Promise<void> {
    const envelope = envelopeOf(statement, key);
    const layer = await spool(envelope.mediaType, envelope.content);
    const config = await spool('application/vnd.oci.empty.v1+json', emptyConfig);
    added.push({ subject, manifest: manifestOf(subject, config, layer, envelope, at) });
  }

  const { root } = plan;
  await add(
    root,
    transferStatement({ digest: root.digest, source: from, destination: to, policy, sboms, at }),
  );
  let left = maxReports;
  for (const image of imagesOf(plan))
    for (const scan of scans.filter(({ subjects }) => isAbout(subjects, image))) {
      if (left-- === 0) break;
      const report = await readReport(scan.file);
      const { digest } = image;
      const scanner = scanners[scan.scanner];
      await add(
        image,
        scanStatement({ digest, destination: to, scanner, report, at: new Date(scan.madeMs ?? at) }),
      );
    }
  return {
    plan: {
      ...plan,
      manifests: [...plan.manifests, ...added.map(({ manifest }) => manifest)],
      referrers: [
        ...plan.referrers,
        ...added.map(({ subject, manifest }) => ({ subject: subject.digest, manifest })),
      ],
      blobs: distinct([...plan.blobs, ...added.flatMap(({ manifest }) => manifest.blobs)]),
    },
    source: {
      ...source,
      async openBlob(digest, offset, signal) {
        const file = spooled.get(digest);
        if (file === undefined) return source.openBlob(digest, offset, signal);
        return { start: offset, size: undefined, stream: createReadStream(file, { start: offset }) };
      },
    },
  };
}

function isAbout(subjects: ReadonlySet<string>, { digest, blobs }: Manifest): boolean {
  return subjects.has(digest) || subjects.has(blobs[0]?.digest ?? '');
}

function distinct(blobs: readonly Descriptor[]): Descriptor[] {
  return [...new Map(blobs.map((blob) => [blob.digest, blob])).values()];
}

function manifestOf(
  { mediaType, digest, bytes }: Manifest,
  config: Descriptor,
  layer: Descriptor,
  { annotations }: Envelope,
  at: Date,
): Manifest {
  const manifest = {
    schemaVersion: 2,
    mediaType: ociManifest,
    artifactType: layer.mediaType,
    config,
    layers: [layer],
    subject: { mediaType, digest, size: bytes.length },
    annotations: { ...annotations, 'org.opencontainers.image.created': at.toISOString() },
  };
  return parseManifest(Buffer.from(JSON.stringify(manifest)), `attestation of ${digest}`);
}
