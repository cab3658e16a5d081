/** `npm run build`: writes one bundle per deployable, and the command-line programs, to dist/. */
import { buildFunctions, bundleCommands } from './build/bundle.ts';

for (const { file, bytes } of [...(await buildFunctions('dist')), ...(await bundleCommands('dist'))])
  console.log(`${file}  ${(bytes / 1024).toFixed(0)} KiB`);
