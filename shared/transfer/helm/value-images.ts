import { isRecord } from '#shared/base/meta';

/** An image found in the values of a chart. */
export interface ValueImage {
  /** The image name, such as `host/repository:tag`. */
  image: string;
  /** Its path, such as `controller.image`. */
  path: string;
}

type Values = Readonly<Record<string, unknown>>;

const maxDepth = 30;
/** In characters: registry, repository, tag and digest together are shorter. */
const maxNameLength = 700;
const looksLikeImage = /^[A-Za-z0-9][A-Za-z0-9._:/@-]*$/;

/**
 * Finds the images in the values of a chart by common conventions: mappings with `repository` (or `image`, or `name`) beside `registry`, `tag`
 * or `digest`, and strings under keys that end in `image`. The default tag is the chart's `appVersion`. `global.imageRegistry` replaces
 * registries, as in many charts. Images below `enabled: false` are returned in `disabled`.
 */
export function valueImages(
  values: Values,
  appVersion: string | undefined,
): { images: ValueImage[]; disabled: string[] } {
  const images: ValueImage[] = [];
  const disabled: string[] = [];
  const { global } = values;
  const registry = isRecord(global) ? text(global.imageRegistry) : '';

  function visit(value: unknown, path: string[], enabled: boolean): void {
    if (path.length > maxDepth) return;
    if (Array.isArray(value))
      for (const [index, one] of value.entries()) visit(one, [...path, `${index}`], enabled);
    if (isRecord(value)) visitMapping(value, path, enabled && value.enabled !== false);
  }

  function visitMapping(value: Values, path: string[], enabled: boolean): void {
    const block = imageBlock(value, path.at(-1) ?? '', registry, appVersion);
    if (block !== undefined) add(block, path, enabled);
    for (const [key, inner] of Object.entries(value)) {
      const whole =
        block === undefined && isImageKey(key) ? imageString(inner, value, appVersion) : undefined;
      if (whole !== undefined) add(whole, [...path, key], enabled);
      visit(inner, [...path, key], enabled);
    }
  }

  function add(image: string, path: string[], enabled: boolean): void {
    if (enabled) images.push({ image, path: path.join('.') });
    else disabled.push(image);
  }

  visit(values, [], true);
  const wanted = new Set(images.map(({ image }) => image));
  return { images, disabled: [...new Set(disabled)].filter((image) => !wanted.has(image)) };
}

function isImageKey(key: string): boolean {
  return /image$/i.test(key);
}

/** Reads `{registry, repository, tag, digest}` and its variants; undefined for other mappings, such as a Git repository. */
function imageBlock(
  value: Values,
  key: string,
  registry: string,
  appVersion: string | undefined,
): string | undefined {
  const named =
    text(value.repository) ||
    (isImageKey(key) ? text(value.name) : '') ||
    (text(value.registry) ? text(value.image) : '');
  const [tag, digest] = [text(value.tag), text(value.digest) || text(value.sha)];
  const isBlock = isImageKey(key) || 'tag' in value || text(value.registry) !== '' || digest !== '';
  if (named === '' || !isBlock || named.includes('//') || !looksLikeImage.test(named)) return undefined;
  const inner = text(value.registry) !== '' && text(value.repository) !== '' ? text(value.image) : '';
  const from = registry || text(value.registry);
  const name = [from, named, inner].filter(Boolean).join('/');
  return withVersion(name, tag, digest, appVersion);
}

/** Reads a string such as `quay.io/team/app:1.0`, or a name beside a `tag`. */
function imageString(written: unknown, beside: Values, appVersion: string | undefined): string | undefined {
  const [tag, digest] = [text(beside.tag), text(beside.digest)];
  if (
    typeof written !== 'string' ||
    written.length > maxNameLength ||
    !looksLikeImage.test(written) ||
    written.includes('//')
  )
    return undefined;
  const hasVersion = written.includes('@') || /:[^/]+$/.test(written);
  if (hasVersion) return written;
  // A single word may be anything, such as a variant of the base image.
  return tag === '' && digest === '' && !written.includes('/')
    ? undefined
    : withVersion(written, tag, digest, appVersion);
}

function withVersion(name: string, tag: string, digest: string, appVersion: string | undefined): string {
  if (name.includes('@') || /:[^/]+$/.test(name)) return name;
  if (digest !== '') return `${name}@${digest.includes(':') ? digest : `sha256:${digest}`}`;
  const version = tag || appVersion || '';
  return version === '' ? name : `${name}:${version}`;
}

/** Reads a string, or a number written for one: `tag: 1.27`. */
function text(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.length <= maxNameLength ? value.trim() : '';
}
