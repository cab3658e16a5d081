import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Plugin } from 'esbuild';

/** The part of protobufjs that converts .proto files to JSON; a dependency of etcd3's proto loader. */
interface Protobuf {
  Root: new () => { loadSync(file: string, options: { keepCase: boolean }): { toJSON(): object } };
}

const reading = `(0, proto_loader_1.loadSync)(\`\${__dirname}/../proto/rpc.proto\`, `;

/**
 * etcd3 reads its .proto files from its package folder, which a bundle does not have: this plugin inlines their content as JSON, which also
 * loads faster.
 */
export const inlineProtos: Plugin = {
  name: 'inline-protos',
  setup(build) {
    build.onLoad({ filter: /[\\/]etcd3[\\/]lib[\\/]connection-pool\.js$/ }, async ({ path: file }) => {
      const source = await readFile(file, 'utf8');
      if (!source.includes(reading))
        throw new Error(
          `${file} does not load its .proto files as expected: adapt scripts/build/inline-protos.ts`,
        );
      const etcd3 = createRequire(file);
      const { Root }: Protobuf = createRequire(etcd3.resolve('@grpc/proto-loader'))('protobufjs');
      const root = new Root().loadSync(path.resolve(file, '../../proto/rpc.proto'), { keepCase: true });
      const inlined = `(0, proto_loader_1.fromJSON)(${JSON.stringify(root)}, `;
      return { contents: source.replace(reading, () => inlined), loader: 'js' };
    });
  },
};
