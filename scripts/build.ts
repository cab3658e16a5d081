/** `npm run build`: one bundle per deployable in dist/, and the commands for people. */
import { buildFunctions, bundleCommands } from './build/bundle.ts';

for (const { file, bytes } of [...(await buildFunctions('dist')), ...(await bundleCommands('dist'))])
  console.log(`${file}  ${(bytes / 1024).toFixed(0)} KiB`);
