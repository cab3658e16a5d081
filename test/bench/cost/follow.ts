import type { KubeObject } from '#shared/base/meta';
import { type Kind, type KubeClient, listWatch } from '#shared/kubernetes/client';

/** The objects of a kind as they come and go: how many are there, and how many of them are chosen. */
export function follow<T extends KubeObject>(
  api: KubeClient,
  kind: Kind<T>,
  signal: AbortSignal,
  isChosen: (object: T) => boolean,
) {
  const known = new Map<string, boolean>();
  let chosen = 0;
  let check = () => {};
  listWatch<T, { name: string }>(
    api,
    kind,
    {
      keep: ({ metadata }) => ({ name: metadata.name }),
      onChange({ before, after }) {
        const name = after?.metadata.name ?? before?.name ?? '';
        const is = after !== undefined && isChosen(after);
        chosen += Number(is) - Number(known.get(name) ?? false);
        if (after === undefined) known.delete(name);
        else known.set(name, is);
        check();
      },
    },
    { signal },
  );
  return {
    until: (holds: (chosen: number, all: number) => boolean) =>
      new Promise<void>((resolve) => {
        check = () => {
          if (holds(chosen, known.size)) resolve();
        };
        check();
      }),
  };
}
