/** What became of a case with one registry as the source and another as the destination. */
export interface Outcome {
  tool: string;
  format: string;
  /** The registry that it was read from and written to. */
  registry: string;
  failure: string | undefined;
}

/** Where the page is, and how it is written. */
export const compatibilityFile = 'docs/compatibility.md';

const introduction = `# Compatibility

What people make with other tools, moved by ARC, and read again by the same tools. This page is written by a test run; do not edit it:

\`\`\`sh
REGISTRY_TOOLS=FOLDER ARC_COMPATIBILITY=docs/compatibility.md npx vitest run --project release test/release/compatibility.test.ts
\`\`\`

A row is one way in which a tool is used. In each column the tool writes into that registry, ARC moves what it finds to the registry of the next column (the last one to
the first), the digest is compared, and the tool reads what has arrived: every blob, and the signatures and referrers that belong to it.

In OCI layouts, ARC lists referrers as oras does. regctl has a convention of its own, which ARC reads and does not write: regctl finds the image in such a layout, and not its referrers.
`;

/** The text of the page, with a column for each registry. */
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
${outcomes.length} combinations were tried, ${failed === 0 ? 'and all of them hold' : `and ${failed} of them do not hold`}.

| tool | format | ${registries.join(' | ')} |
| --- | --- | ${registries.map(() => '---').join(' | ')} |
${lines.join('\n')}

| program | version |
| --- | --- |
${versions.map(([name, version]) => `| ${name} | ${version} |`).join('\n')}
`;
}

const row = (tool: string, format: string) => `| ${tool} | ${format} |`;

/** What is wrong with a page that stands for these cases and registries: rows that are missing, too many, or not whole. */
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
      .map((line) => `nobody tries ${line}`),
    ...found
      .filter(
        (line) =>
          !line
            .split('|')
            .slice(3, -1)
            .every((cell) => /^ (yes|no: .+) $/.test(cell)),
      )
      .map((line) => `not whole: ${line}`),
  ];
}
