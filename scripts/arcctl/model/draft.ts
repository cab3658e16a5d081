import { type Endpoint, isObjectName, mayBe, type Order, orders, type Side } from '#shared/domain';

/** The user's input. */
export interface DraftRequest {
  /** `host[:port]/path[:tag][@digest]`, with or without a scheme. */
  source: string;
  /** The same format; with a trailing `/`, the last segment of the source's path is appended. */
  destination: string;
  type: string;
  name?: string;
}

/** `endpoint`: the manifest of a suitable Endpoint, with the placeholder NAMESPACE. */
export type Drafted =
  | { state: 'drafted'; order: Order }
  | { state: 'refused'; message: string; endpoint?: string };

/** Drafts an Order with one artifact that copies `source` to `destination` between existing Endpoints. */
export function draftOrder(request: DraftRequest, known: readonly Endpoint[]): Drafted {
  const source = normalized(request.source);
  const tail = source.split('/').at(-1) ?? '';
  const wanted = normalized(request.destination);
  const destination = request.destination.trim().endsWith('/') ? `${wanted}/${tail}` : wanted;
  for (const [text, what] of [
    [source, 'source'],
    [destination, 'destination'],
  ] as const)
    if (!/^[^/\s]+\/\S+$/.test(text))
      return {
        state: 'refused',
        message: `the ${what} ${JSON.stringify(text)} must have a host and a path: registry.example.com/team/app:1.0`,
      };
  const from = endpointFor(source, known, 'source');
  const to = endpointFor(destination, known, 'destination');
  if (!from) return missing(source, 'source', 'PullOnly');
  if (!to) return missing(destination, 'destination', 'PushOnly');
  const name = request.name ?? nameOf(tail);
  if (!isObjectName(name))
    return {
      state: 'refused',
      message: `${JSON.stringify(name)} is not a valid Order name: use lower-case letters, digits and - with --name`,
    };
  const image = pathBelow(source, from);
  const override = pathBelow(destination, to);
  const isSame = override === image || override === image.replace(/(:[^:/@]+)?(@.*)?$/, '');
  return {
    state: 'drafted',
    order: {
      apiVersion: orders.apiVersion,
      kind: orders.kind,
      metadata: { name },
      spec: {
        artifacts: [
          {
            type: request.type,
            srcRef: { name: from.metadata.name },
            dstRef: { name: to.metadata.name },
            spec: { image, ...(isSame ? {} : { override }) },
          },
        ],
      },
    },
  };
}

/** Removes the scheme and surrounding slashes; lower-cases the host. */
function normalized(reference: string): string {
  const bare = reference
    .trim()
    .replace(/^(https?|oci|docker):\/\//i, '')
    .replace(/^\/+|\/+$/g, '');
  const slash = bare.indexOf('/');
  return slash < 0 ? bare.toLowerCase() : bare.slice(0, slash).toLowerCase() + bare.slice(slash);
}

/** Returns the Endpoint with the longest remoteURL that contains the reference and whose usage permits that side. */
function endpointFor(reference: string, known: readonly Endpoint[], side: Side): Endpoint | undefined {
  return known
    .filter(({ spec }) => mayBe(side, spec))
    .filter(({ spec }) => reference.startsWith(`${normalized(spec.remoteURL)}/`))
    .toSorted((a, b) => normalized(b.spec.remoteURL).length - normalized(a.spec.remoteURL).length)[0];
}

function pathBelow(reference: string, { spec }: Endpoint): string {
  return reference.slice(normalized(spec.remoteURL).length + 1);
}

function missing(reference: string, side: string, usage: string): Drafted {
  const [host = ''] = reference.split('/');
  const name = host.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
  return {
    state: 'refused',
    message: `this namespace has no ${side} Endpoint for ${reference}`,
    endpoint: `kubectl apply -n NAMESPACE -f - <<END
apiVersion: ${orders.apiVersion}
kind: Endpoint
metadata: { name: ${name} }
spec: { type: oci, remoteURL: 'https://${host}', usage: ${usage} }
END`,
  };
}

/** Returns a valid name such as `app-1-0` for `app:1.0`. */
function nameOf(tail: string): string {
  return tail
    .replace(/@.*$/, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 50);
}
