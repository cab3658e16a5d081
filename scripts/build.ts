/** `npm run build`: one bundle per deployable in dist/. */
import { buildFunctions } from './build/bundle.ts';

for (const { file, bytes } of await buildFunctions('dist'))
  console.log(`${file}  ${(bytes / 1024).toFixed(0)} KiB`);
