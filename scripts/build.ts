/** `npm run build`: one bundle per deployable in dist/, and arcctl. */
import { buildFunctions, bundleArcctl } from './build/bundle.ts';

for (const { file, bytes } of [...(await buildFunctions('dist')), await bundleArcctl('dist')])
  console.log(`${file}  ${(bytes / 1024).toFixed(0)} KiB`);
