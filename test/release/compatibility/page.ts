/** The result of one case, with one registry as the source and another as the destination. */
export interface Outcome {
  tool: string;
  format: string;
  /** The registry to which the tool wrote. */
  registry: string;
  failure: string | undefined;
}

/** Path of the generated page. */
export const compatibilityFile = 'docs/compatibility.md';

const introduction = `# Compatibility

ARC copies artifacts that other tools created, and the same tools read the copies. A test generates this page; do not
edit it:

\`\`\`sh
REGISTRY_TOOLS=FOLDER ARC_COMPATIBILITY=docs/compatibility.md npx vitest run --project release test/release/compatibility.test.ts
\`\`\`

Each row is one use of a tool. For each column, the tool writes into that registry, ARC copies the artifact to the
registry of the next column (from the last to the first), the test compares the digests, and the tool reads the copy:
every blob, and its signatures and referrers.

In OCI layouts, ARC lists referrers as oras and as regctl do, and marks images and signatures for
\`cosign verify --local-image\`.
`;

/** Returns the text of the page, with a column per registry. */
export function compatibilityPage(
  outcomes: readonly Outcome[],
  registries: readonly string[],
  versions: readonly (readonly [string, string])[],
): string {
  const rows = new Map<string, Map<string, string>>();
  for (const { tool, format, registry, failure } of outcomes) {
    const key = row(tool, format);
    const cells = rows.get(key) ?? new Map<string, string>();
    rows.set(key, cells.set(registry, failure === undefined ? 'yes' : `no: ${failure}`));
  }
  const lines = [...rows].map(
    ([key, cells]) => `${key} ${registries.map((each) => cells.get(each) ?? '').join(' | ')} |`,
  );
  const failed = outcomes.filter(({ failure }) => failure !== undefined).length;
  return `${introduction}
${outcomes.length} combinations were tested, ${failed === 0 ? 'and all of them work' : `and ${failed} of them do not work`}.

| tool | format | ${registries.join(' | ')} |
| --- | --- | ${registries.map(() => '---').join(' | ')} |
${lines.join('\n')}

| program | version |
| --- | --- |
${versions.map(([name, version]) => `| ${name} | ${version} |`).join('\n')}
`;
}

const row = (tool: string, format: string) => `| ${tool} | ${format} |`;

/** Returns the defects of a page for these cases and registries: missing, unexpected or incomplete rows. */
export function pageProblems(
  page: string,
  cases: readonly { tool: string; format: string }[],
  registries: readonly string[],
): string[] {
  const lines = page.split('\n');
  const [header, ...others] = lines.filter((line) => line.split('|').length === registries.length + 4);
  const found = others.slice(1);
  const wanted = cases.map(({ tool, format }) => row(tool, format));
  return [
    ...(header === `| tool | format | ${registries.join(' | ')} |` ? [] : [`the registries are ${header}`]),
    ...wanted
      .filter((start) => !found.some((line) => line.startsWith(start)))
      .map((start) => `no row ${start}`),
    ...found
      .filter((line) => !wanted.some((start) => line.startsWith(start)))
      .map((line) => `no case for ${line}`),
    ...found
      .filter(
        (line) =>
          !line
            .split('|')
            .slice(3, -1)
            .every((cell) => /^ (yes|no: .+) $/.test(cell)),
      )
      .map((line) => `incomplete: ${line}`),
  ];
}
