import {
  artifactTypes,
  artifactWorkflows,
  clusterArtifactTypes,
  cronWorkflows,
  endpoints,
  orders,
  workflows,
} from '#shared/domain';
import type { Kind } from '#shared/kubernetes/client';
import { closest } from './closest.ts';
import { usage } from './failure.ts';

interface Known {
  kind: Kind;
  names: readonly string[];
}

/** Short names as in the API, and the singular. */
const known: readonly Known[] = [
  { kind: orders, names: ['order', 'ord'] },
  { kind: artifactWorkflows, names: ['artifactworkflow', 'aw'] },
  { kind: endpoints, names: ['endpoint', 'aep'] },
  { kind: artifactTypes, names: ['artifacttype', 'at'] },
  { kind: clusterArtifactTypes, names: ['clusterartifacttype', 'cat'] },
  { kind: workflows, names: ['workflow', 'wf'] },
  { kind: cronWorkflows, names: ['cronworkflow', 'cwf', 'cronwf'] },
];

/** The plural names of all supported kinds. */
export const kindNames: readonly string[] = known.map(({ kind }) => kind.plural);

/** Returns the kind for a word as in kubectl: plural, singular, short name or Kind, with or without the group. */
export function kindOf(word: string): Kind {
  const lower = word.toLowerCase();
  const found = known.find(({ kind, names }) => {
    const { plural, apiVersion } = kind;
    const group = apiVersion.split('/')[0];
    return [plural, ...names, `${plural}.${group}`].includes(lower);
  });
  if (found) return found.kind;
  const similar = closest(
    lower,
    known.flatMap(({ kind, names }) => [kind.plural, ...names]),
  );
  const hint = similar === undefined ? '' : `did you mean ${similar}? Known kinds:`;
  throw usage(
    `unknown kind ${JSON.stringify(word)}: ${hint === '' ? 'use one of' : hint} ${kindNames.join(', ')}`,
  );
}

/** Arguments `KIND [NAME...]` or `KIND/NAME...`; without arguments, all Orders. */
export interface ObjectSelection {
  kind: Kind;
  /** Empty: all objects of the kind. */
  names: string[];
}

/** Parses the words after a verb, as kubectl does. */
export function parseSelection(words: readonly string[]): ObjectSelection {
  const [first, ...rest] = words;
  if (first === undefined) return { kind: orders, names: [] };
  if (!first.includes('/')) return { kind: kindOf(first), names: plainNames(rest) };
  const [kinds, names] = [new Set<Kind>(), [] as string[]];
  for (const word of words) {
    const [kind = '', name = '', ...more] = word.split('/');
    if (name === '' || more.length > 0)
      throw usage(`${JSON.stringify(word)}: write KIND/NAME, such as order/my-order`);
    kinds.add(kindOf(kind));
    names.push(name);
  }
  const [kind = orders] = kinds;
  if (kinds.size > 1) throw usage('all names must be of one kind');
  return { kind, names };
}

/** Parses words of which a single one is the name of an Order, unless it is a kind followed by names. */
export function parseOrdersOrSelection(words: readonly string[]): ObjectSelection {
  if (words.length === 0 || words.some((word) => word.includes('/'))) return parseSelection(words);
  try {
    if (words.length > 1) return parseSelection(words);
  } catch {
    // The first word is not a kind: all words are names of Orders.
  }
  return { kind: orders, names: [...words] };
}

function plainNames(words: readonly string[]): string[] {
  const slashed = words.find((word) => word.includes('/'));
  if (slashed !== undefined)
    throw usage(`${JSON.stringify(slashed)}: use either KIND NAME... or KIND/NAME..., not both`);
  return [...words];
}

/** Returns the name in `my-order` or `order/my-order`. */
export function orderName(word: string): string {
  const { kind, names } = word.includes('/') ? parseSelection([word]) : { kind: orders, names: [word] };
  const [name = ''] = names;
  if (kind !== orders) throw usage(`${JSON.stringify(word)} is not an Order: give the name of an Order`);
  return name;
}

/** Formats an object like `-o name`. */
export function fullName({ apiVersion, kind }: Kind, name: string): string {
  return `${kind.toLowerCase()}.${apiVersion.split('/')[0]}/${name}`;
}
