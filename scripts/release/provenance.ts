import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Statement } from '#shared/transfer';
import { architectures, type ReleaseContext } from './context.ts';
import type { Library } from './debian-libraries.ts';
import { runCommand } from './run-command.ts';

/** Predicate type of SLSA (slsa.dev/spec/v1.0/provenance). */
export const provenancePredicate = 'https://slsa.dev/provenance/v1';

export type Subject = Statement['subject'][number];

interface Dependency {
  uri: string;
  digest?: Record<string, string>;
}

/** Returns the provenance of a release: sources, lock file, runtime and libraries. It contains only reproducible data. */
export async function provenanceOf(
  context: ReleaseContext,
  { nodeVersion, libraries }: { nodeVersion: string; libraries: readonly Library[] },
  subject: readonly Subject[],
): Promise<Statement> {
  const { version, time, image, url, base } = context;
  const lock = createHash('sha256')
    .update(await readFile('package-lock.json'))
    .digest('hex');
  const dependencies: Dependency[] = [
    ...(await sources(context)),
    { uri: 'package-lock.json', digest: { sha256: lock } },
    ...architectures.map((architecture) => ({
      uri: `pkg:generic/node@${nodeVersion}?os=linux&arch=${architecture}`,
    })),
    ...libraries.map(({ name, version: packageVersion, architecture }) => ({
      uri: `pkg:deb/debian/${name}@${packageVersion}?arch=${architecture}`,
    })),
  ];
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject,
    predicateType: provenancePredicate,
    predicate: {
      buildDefinition: {
        buildType: 'https://arc.opendefense.cloud/release/v1',
        externalParameters: { version, image, url, ...(base !== undefined && { base }) },
        internalParameters: { SOURCE_DATE_EPOCH: time },
        resolvedDependencies: dependencies,
      },
      runDetails: { builder: { id: 'https://arc.opendefense.cloud/release/npm-run-release' } },
    },
  };
}

/** Returns the commit; empty if the sources are not a checkout. */
async function sources({ signal, note }: ReleaseContext): Promise<Dependency[]> {
  try {
    const commit = (await runCommand('git', ['rev-parse', 'HEAD'], { signal })).trim();
    const changes = await runCommand('git', ['status', '--porcelain', '--untracked-files=no'], { signal });
    if (changes.trim() !== '') note('warning: files differ from the commit in the provenance');
    return [{ uri: 'git+https://artifact-conduit', digest: { gitCommit: commit } }];
  } catch {
    signal.throwIfAborted();
    return [];
  }
}
