import { isBuiltin } from 'node:module';
import type { Plugin } from 'esbuild';

/**
 * Takes out of a bundle what no program of ours uses and every start would pay for, where tree shaking cannot see it because the
 * package is CommonJS. A bundle that imports a removed part fails to build, or at the first call of it.
 */
export const leaveOut: Plugin = {
  name: 'leave-out',
  setup(build) {
    // Its HTTP, Kafka and MQTT messages and emitters, with JSON for big numbers: we have the event itself from it.
    build.onLoad({ filter: /[\\/]cloudevents[\\/]dist[\\/]index\.js$/ }, () => ({
      contents: "export { CloudEvent } from './event/cloudevent.js';",
    }));
    // Of the Kubernetes client the kubeconfig and what signs in, without its API classes, its watches and its own HTTP client.
    build.onLoad({ filter: /[\\/]client-node[\\/]dist[\\/]index\.js$/ }, () => ({
      contents: "export { KubeConfig } from './config.js';",
    }));
    build.onLoad({ filter: /[\\/]client-node[\\/]dist[\\/]gen[\\/]index\.js$/ }, () => ({
      contents: `export const createConfiguration = () => { throw new Error('this bundle has no API classes of client-node'); };
        export const ServerConfiguration = createConfiguration;`,
    }));
    // We give client-node the documents it reads, and give them as JSON.
    build.onLoad({ filter: /[\\/]js-yaml[\\/]dist[\\/]js-yaml\.mjs$/ }, () => ({
      contents: 'export const load = (text) => JSON.parse(text);',
    }));
    build.onLoad({ filter: /[\\/]node_modules[\\/]undici[\\/]index\.js$/ }, () => ({
      contents: `const none = function () { throw new Error('this bundle has no undici'); };
        module.exports = { Agent: none, ProxyAgent: none };`,
    }));
    // Loggers in worker threads, which a bundle cannot start anyway (shared/telemetry says so).
    build.onLoad({ filter: /[\\/]pino[\\/]lib[\\/]transport\.js$/ }, () => ({
      contents: "module.exports = () => { throw new Error('this bundle has no transports of pino'); };",
    }));
  },
};

/** The file beside every bundle that a program loads when it needs kubeconfigs: made once, loaded seldom. */
export const kubeconfigFile = 'kubeconfig.mjs';

/** Leaves the lazily loaded folder of kubeconfigs out of bundles, which load `kubeconfigFile` instead. */
export const kubeconfigApart: Plugin = {
  name: 'kubeconfig-apart',
  setup(build) {
    build.onResolve({ filter: /\/kubeconfig\/index\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: `./${kubeconfigFile}`, external: true } : undefined,
    );
  },
};

/**
 * Has Node's modules as they are, and not as ES modules: for such a one Node reads every export, and so loads what stands behind
 * getters (WebSocket behind node:http, WebCrypto behind node:crypto).
 */
export const plainBuiltins: Plugin = {
  name: 'plain-builtins',
  setup(build) {
    const namespace = 'builtin';
    build.onResolve({ filter: /^[a-z]/ }, ({ path, kind }) =>
      kind === 'import-statement' && isBuiltin(path) ? { path, namespace } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};
