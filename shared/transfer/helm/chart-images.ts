import { isRecord } from '#shared/base/meta';
import { yamlToJson } from '#shared/base/yaml';
import { TransferError } from '../errors/transfer-error.ts';
import { readChartArchive } from './chart-archive.ts';
import { type ChartMetadata, chartMetadata } from './chart-metadata.ts';
import { readChartYaml } from './chart-yaml.ts';
import { imageKey, type NamedImage, parseNamedImage } from './image-name.ts';
import { valueImages } from './value-images.ts';

/** The distinct images of a chart, and warnings about those that were skipped. */
export interface ChartImages {
  images: NamedImage[];
  warnings: string[];
}

type Values = Readonly<Record<string, unknown>>;
type Files = ReadonlyMap<string, Buffer>;

/** Artifact Hub's annotation for images: a YAML list of `{name, image}`. */
const listAnnotation = 'artifacthub.io/images';
const maxSubchartDepth = 8;
const maxSubcharts = 200;
const maxImages = 500;

/**
 * Finds the images of a chart without rendering it: in its annotation `artifacthub.io/images` and in its values merged with `overrides`,
 * including enabled subcharts. Images that only templates name are not found. Rejects with a TransferError.
 */
export async function chartImages(files: Files, overrides: Values, what: string): Promise<ChartImages> {
  const search = new ImageSearch(what);
  await search.chart(files, overrides, what, 0);
  return { images: [...search.found.values()], warnings: search.warnings };
}

class ImageSearch {
  readonly found = new Map<string, NamedImage>();
  readonly warnings: string[] = [];
  readonly #what: string;
  #subcharts = 0;

  constructor(what: string) {
    this.#what = what;
  }

  async chart(files: Files, overrides: Values, name: string, depth: number): Promise<void> {
    const metadata = await metadataOf(files, name);
    const file = files.get('values.yaml');
    const values = merged(file ? await readChartYaml(file, `values.yaml of ${name}`) : {}, overrides);
    if (metadata.type === 'library') return;
    for (const written of await this.#annotatedImages(metadata))
      this.#add(written, `${listAnnotation} of ${name}`);
    const { images, disabled } = valueImages(values, metadata.appVersion);
    for (const { image, path } of images) this.#add(image, `${path} in the values of ${name}`);
    if (disabled.length > 0)
      this.warnings.push(
        `Images of components that the values of ${name} disable are not moved: ${shown(disabled)}`,
      );
    await this.#subchartsOf(files, metadata, values, name, depth);
  }

  async #annotatedImages({ annotations }: ChartMetadata): Promise<string[]> {
    const text = annotations?.[listAnnotation];
    if (text === undefined) return [];
    try {
      const limits = { what: 'it', characters: 256 * 1024, depth: 20, size: 1024 * 1024 };
      const list: unknown = JSON.parse((await yamlToJson(text, limits)) || 'null');
      if (!Array.isArray(list)) throw new Error('it is not a list');
      return list.flatMap((one) => (isRecord(one) && typeof one.image === 'string' ? [one.image] : []));
    } catch (caught) {
      const why = caught instanceof Error ? caught.message : String(caught);
      this.warnings.push(`The annotation ${listAnnotation} of ${this.#what} cannot be read: ${why}`);
      return [];
    }
  }

  #add(written: string, where: string): void {
    let image: NamedImage;
    try {
      image = parseNamedImage(written);
    } catch {
      this.warnings.push(
        `"${written.slice(0, 100)}" (${where}) is not the name of an image and is not moved`,
      );
      return;
    }
    this.found.set(imageKey(image), image);
    if (this.found.size > maxImages)
      throw new TransferError(
        'permanent',
        `The chart ${this.#what} names more than ${maxImages} images: list those to move in spec.images.`,
      );
  }

  async #subchartsOf(
    files: Files,
    metadata: ChartMetadata,
    values: Values,
    name: string,
    depth: number,
  ): Promise<void> {
    const charts = await subcharts(files, name);
    this.#subcharts += charts.size;
    if (depth >= maxSubchartDepth || this.#subcharts > maxSubcharts)
      throw new TransferError(
        'permanent',
        `The chart ${this.#what} has too many subcharts (at most ${maxSubcharts}, nested ${maxSubchartDepth} deep): list its images in spec.images.`,
      );
    const asked = metadata.dependencies ?? [];
    for (const { name: missing } of asked.filter((one) => !charts.has(one.name)))
      this.warnings.push(`Subchart ${missing} of ${name} is not in the archive: its images are not moved`);
    for (const [subchart, below] of charts) {
      // A subchart that Chart.yaml does not list is always enabled.
      const dependencies = asked.filter((one) => one.name === subchart);
      const uses = dependencies.filter((one) => isEnabled(one, values)).map(({ alias }) => alias ?? subchart);
      for (const key of dependencies.length === 0 ? [subchart] : uses) {
        const own = isRecord(values[key]) ? values[key] : {};
        const global = isRecord(values.global) ? { global: values.global } : {};
        await this.chart(below, merged(own, global), `subchart ${key} of ${this.#what}`, depth + 1);
      }
    }
  }
}

/** Reads the metadata of a chart. Rejects with a permanent TransferError. */
export async function metadataOf(files: Files, what: string): Promise<ChartMetadata> {
  const file = files.get('Chart.yaml');
  if (!file) throw new TransferError('permanent', `The archive of ${what} has no Chart.yaml.`);
  const requirements = files.get('requirements.yaml');
  return chartMetadata(
    await readChartYaml(file, `Chart.yaml of ${what}`),
    requirements && (await readChartYaml(requirements, `requirements.yaml of ${what}`)),
    what,
  );
}

/** The subcharts by name: folders and archives in `charts/`. Helm ignores names that begin with a dot or underscore. */
async function subcharts(files: Files, what: string): Promise<Map<string, Files>> {
  const folders = new Map<string, Map<string, Buffer>>();
  const charts = new Map<string, Files>();
  for (const [path, content] of files) {
    const [, folder = '', below] = /^charts\/([^/]+)(?:\/(.+))?$/.exec(path) ?? [];
    if (folder === '' || /^[._]/.test(folder)) continue;
    if (below === undefined) {
      const archive = await readChartArchive(content, `${folder} in ${what}`);
      charts.set((await metadataOf(archive.files, folder)).name, archive.files);
    } else {
      const own = folders.get(folder) ?? new Map<string, Buffer>();
      folders.set(folder, own.set(below, content));
    }
  }
  for (const [folder, own] of folders)
    if (own.has('Chart.yaml')) charts.set((await metadataOf(own, folder)).name, own);
  return charts;
}

/** Helm's rule: the first path of `condition` with a boolean value decides, then the tags; the default is enabled. */
function isEnabled(
  { condition = '', tags = [] }: { condition?: string; tags?: string[] },
  values: Values,
): boolean {
  for (const path of condition
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean)) {
    const found = path.split('.').reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), values);
    if (typeof found === 'boolean') return found;
  }
  const set = isRecord(values.tags) ? values.tags : {};
  const given = tags.map((tag) => set[tag]).filter((value) => typeof value === 'boolean');
  return given.length === 0 || given.includes(true);
}

/** Merges `over` into `base` as Helm merges values: mappings key by key, everything else as a whole; null removes a key. */
function merged(base: Values, over: Values): Values {
  const result = new Map(Object.entries(base));
  for (const [key, value] of Object.entries(over)) {
    const before = result.get(key);
    if (value === null) result.delete(key);
    else result.set(key, isRecord(before) && isRecord(value) ? merged(before, value) : value);
  }
  return Object.fromEntries(result);
}

function shown(names: readonly string[]): string {
  const more = names.length - 10;
  return `${names.slice(0, 10).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
