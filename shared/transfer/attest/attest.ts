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

/** How transfers are attested. */
export interface Attesting {
  /** It signs what is attested. */
  key?: KeyObject;
  /** The policy that was applied, as text. */
  policy?: string;
}

export interface Attested {
  plan: CopyPlan;
  source: ContentSource;
  destination: ContentSink;
  /** What scanners have written; reports of images of the plan are attached to them. */
  scans: readonly ReportFile[];
  /** The SBOMs by which the policy let it pass. */
  sboms: readonly FoundSbom[];
  /** A folder that lives as long as the copy. */
  folder: string;
}

const scanners = { trivy: 'aquasecurity/trivy', grype: 'anchore/grype' };
const emptyConfig = Buffer.from('{}');
const maxReports = 50;

/**
 * The artifact with statements about its transfer and its scans as further referrers: they are moved with it as if the source had them, before the tag is
 * written. Rejects with a TransferError where a report cannot be read.
 */
export async function attested(
  { key, policy }: Attesting,
  { plan, source, destination, scans, sboms, folder }: Attested,
): Promise<{ plan: CopyPlan; source: ContentSource }> {
  const at = new Date();
  // Copies of a batch share the folder.
  const held = await mkdtemp(path.join(folder, 'attestations-'));
  const own = new Map<string, string>();
  const [from, to] = [placeName(source), placeName(destination)];
  const added: { subject: Manifest; manifest: Manifest }[] = [];

  async function hold(mediaType: string, content: Buffer): Promise<Descriptor> {
    const digest = digestOf(content);
    const file = path.join(held, digest.replace(':', '-'));
    await writeFile(file, content);
    own.set(digest, file);
    return { mediaType, digest, size: content.length };
  }

  async function add(subject: Manifest, statement: Statement): Promise<void> {
    const envelope = envelopeOf(statement, key);
    const layer = await hold(envelope.mediaType, envelope.content);
    const config = await hold('application/vnd.oci.empty.v1+json', emptyConfig);
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
        const file = own.get(digest);
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
