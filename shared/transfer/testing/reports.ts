/** Reports in the shape of `trivy image --format json` (schema 2), with Trivy's unused fields too. */
export function trivyReport(
  imageID: string,
  vulnerabilities: readonly { id: string; severity: string }[] = [],
  createdAt = '2026-05-31T12:00:00.123456789Z',
): object {
  const listed = vulnerabilities.map(({ id, severity }) => ({
    VulnerabilityID: id,
    PkgID: 'musl@1.2.4-r1',
    PkgName: 'musl',
    InstalledVersion: '1.2.4-r1',
    FixedVersion: '1.2.4-r3',
    Status: 'fixed',
    SeveritySource: 'nvd',
    Title: 'musl: a title',
    Severity: severity,
    CweIDs: ['CWE-787'],
  }));
  return {
    SchemaVersion: 2,
    CreatedAt: createdAt,
    ArtifactName: '/quarantine/images/0',
    ArtifactType: 'container_image',
    Metadata: {
      OS: { Family: 'alpine', Name: '3.18.4' },
      ImageID: imageID,
      DiffIDs: ['sha256:7cd52847ad775a5ddc4b58326cf884beee34544296402c6292ed76474c686d39'],
      ImageConfig: { architecture: 'amd64', os: 'linux', rootfs: { type: 'layers', diff_ids: [] } },
    },
    Results: [
      {
        Target: '/quarantine/images/0 (alpine 3.18.4)',
        Class: 'os-pkgs',
        Type: 'alpine',
        // Trivy omits an empty field.
        ...(listed.length > 0 && { Vulnerabilities: listed }),
      },
    ],
  };
}

/** Reports in the shape of `grype --output json`. */
export function grypeReport(
  target: { manifestDigest?: string; imageID?: string; repoDigests?: string[] },
  vulnerabilities: readonly { id: string; severity: string }[] = [],
  timestamp = '2026-05-31T12:00:00.123456789Z',
): object {
  return {
    matches: vulnerabilities.map(({ id, severity }) => ({
      vulnerability: { id, severity, namespace: 'alpine:distro:alpine:3.18', fix: { state: 'fixed' } },
      relatedVulnerabilities: [],
      matchDetails: [{ type: 'exact-direct-match', matcher: 'apk-matcher' }],
      artifact: { name: 'musl', version: '1.2.4-r1', type: 'apk' },
    })),
    source: { type: 'image', target: { userInput: '/quarantine/images/0', layers: [], tags: [], ...target } },
    distro: { name: 'alpine', version: '3.18.4', idLike: [] },
    descriptor: { name: 'grype', version: '0.100.0', timestamp, db: { status: { built: timestamp } } },
  };
}
