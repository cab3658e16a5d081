import type { Answer } from './run.ts';

/**
 * Revisions of lists and bookmarks. They are the server's own, and anything written meanwhile, by itself too, makes them
 * later: one that is not older than all that the scenario knows of is `<latest>`, an older one has the name it was
 * captured under, or is `<older>`. So a server that shows old state or goes back in a watch is found, and one that is busy
 * is not.
 */
export class Revisions {
  readonly #names: ReadonlyMap<number, string>;
  #known: number;

  constructor({ variables, ofLists }: Pick<Answer, 'variables' | 'ofLists'>) {
    const captured = Object.entries(variables).filter(
      ([name, value]) => name !== 'ns' && /^\d+$/.test(value),
    );
    const ofObjectsFirst = captured.sort(([a], [b]) => Number(ofLists.has(a)) - Number(ofLists.has(b)));
    this.#names = new Map(ofObjectsFirst.map(([name, value]) => [Number(value), name]));
    this.#known = Math.max(0, ...this.#names.keys());
  }

  /** An event of a watch: what follows it cannot be older. */
  see(object: unknown): void {
    const revision = Number(metadataOf(object)?.resourceVersion);
    if (revision > this.#known) this.#known = revision;
  }

  /** Replaces the revision in the metadata of a list, a Table or a bookmark's object. */
  replace(object: unknown): void {
    const metadata = metadataOf(object);
    const revision = metadata?.resourceVersion;
    if (metadata && typeof revision === 'string' && /^\d+$/.test(revision))
      metadata.resourceVersion = this.#nameOf(Number(revision));
  }

  #nameOf(revision: number): string {
    if (revision >= this.#known) return '<latest>';
    return `<${this.#names.get(revision) ?? 'older'}>`;
  }
}

function metadataOf(object: unknown): Record<string, unknown> | undefined {
  return (object as { metadata?: Record<string, unknown> } | null | undefined)?.metadata;
}
