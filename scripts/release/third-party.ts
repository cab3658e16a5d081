import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { ArcError } from '#shared/base/errors';
import type { Library } from './debian-libraries.ts';
import type { Runtime } from './runtimes.ts';

/** A third-party package in a release. */
export interface ThirdParty {
  name: string;
  version: string;
  /** An SPDX expression. */
  license: string;
  /** Texts that its licence requires to be distributed. */
  text: string;
}

/** Returns the packages in these folders, by name and version. Rejects with Invalid for a package without a licence. */
export async function thirdParties(folders: Iterable<string>): Promise<ThirdParty[]> {
  const found = await Promise.all([...new Set(folders)].map(thirdPartyIn));
  const distinct = new Map(found.map((each) => [`${each.name}@${each.version}`, each]));
  return [...distinct].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

async function thirdPartyIn(folder: string): Promise<ThirdParty> {
  const manifest: { name: string; version: string; license?: unknown } = JSON.parse(
    await readFile(path.join(folder, 'package.json'), 'utf8'),
  );
  const { name, version, license } = manifest;
  if (typeof license !== 'string')
    throw new ArcError('Invalid', `${folder}/package.json has no licence: a release must not contain it`);
  const texts = (await readdir(folder)).filter((file) =>
    /^(licen[cs]e|notice|copying)(\b|[-._])/i.test(file),
  );
  const read = texts.toSorted().map((file) => readFile(path.join(folder, file), 'utf8').catch(() => ''));
  return { name, version, license, text: (await Promise.all(read)).join('\n').trim() };
}

/** Returns THIRD-PARTY.txt: the licences of the packages, of Node, and of Debian's libraries in the image. */
export async function licenseText(
  parties: readonly ThirdParty[],
  runtime: Runtime,
  libraries: readonly Library[],
): Promise<string> {
  const sections = [
    ...parties.map(({ name, version, license, text }) => ({
      title: `${name} ${version} (${license})`,
      text: text === '' ? `The package has no licence text; its licence is ${license}.` : text,
    })),
    {
      title: `Node.js ${runtime.version} (MIT, and those of what it contains)`,
      text: await readFile(runtime.license, 'utf8'),
    },
    ...distinctLicenses(libraries).map(({ names, text }) => ({
      title: `${names}, of Debian, in the image`,
      text,
    })),
  ];
  const head = `Third-party components of ARC's programs and image, with their licences.\n`;
  const line = '='.repeat(80);
  return [head, ...sections.map(({ title, text }) => `${line}\n${title}\n${line}\n\n${text.trim()}\n`)].join(
    '\n',
  );
}

function distinctLicenses(libraries: readonly Library[]): { names: string; text: string }[] {
  const byText = new Map<string, Set<string>>();
  for (const { name, version, license } of libraries) {
    const names = byText.get(license) ?? new Set();
    byText.set(license, names.add(`${name} ${version}`));
  }
  return [...byText].map(([text, names]) => ({ names: [...names].toSorted().join(', '), text }));
}
