/** `node test/bench/bare-hono/image.ts <archive>`: the bare server in an image made as ours is, as a tar for `ctr image import`. */
import { buildImage } from '../../../scripts/image/build-image.ts';
import { bundleBareHono } from './bundle.ts';
import { bareHonoImage } from './service.ts';

const [archive] = process.argv.slice(2);
if (archive === undefined) {
  console.error('usage: node test/bench/bare-hono/image.ts <archive>');
  process.exit(2);
}
const note = (text: string): void => console.error(text);
const bundle = async (folder: string) => [await bundleBareHono(folder)];
const context = { env: process.env, time: 0, note, bundle, signal: new AbortController().signal };
console.log(await buildImage({ archive, name: bareHonoImage }, context));
