/** `npx node examples/serve-a-kind/main.ts [folder]`: serves the library until Ctrl-C. */
import { once } from 'node:events';
import { startLibrary } from './library.ts';

const library = await startLibrary(process.argv[2] ?? '.library', 0);
console.log(`The library is open at ${library.url}. In another terminal, in this folder:

  export KUBECONFIG=${library.kubeconfig}
  kubectl apply -f examples/serve-a-kind/books.yaml
  kubectl get books
`);
await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
await library.close();
