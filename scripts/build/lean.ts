import { isBuiltin } from 'node:module';
import type { Plugin, PluginBuild } from 'esbuild';

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
    // Sign-in of the years before plugins: shared/kubernetes/client/kubeconfig/auth-provider.ts lets nobody through to it.
    build.onLoad({ filter: /[\\/]client-node[\\/]dist[\\/](azure|gcp|oidc)_auth\.js$/ }, () => ({
      contents: `class None { isAuthProvider() { return false; } }
        export { None as AzureAuth, None as GoogleCloudPlatformAuth, None as OpenIDConnectAuth };`,
    }));
    // We give client-node the documents it reads, and give them as JSON.
    build.onResolve({ filter: /^js-yaml$/ }, ({ importer }) =>
      isOfClientNode(importer) ? { path: 'json-only', namespace: 'json-only' } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'json-only' }, () => ({
      contents: 'export const load = (text) => JSON.parse(text);',
    }));
    build.onLoad({ filter: /[\\/]node_modules[\\/]undici[\\/]index\.js$/ }, () => ({
      contents: `const none = function () { throw new Error('this bundle has no undici'); };
        module.exports = { Agent: none, ProxyAgent: none };`,
    }));
    // Loggers in worker threads, which a bundle cannot start anyway (shared/base/telemetry says so).
    build.onLoad({ filter: /[\\/]pino[\\/]lib[\\/]transport\.js$/ }, () => ({
      contents: "module.exports = () => { throw new Error('this bundle has no transports of pino'); };",
    }));
  },
};

function isOfClientNode(file: string): boolean {
  return /[\\/]client-node[\\/]dist[\\/]/.test(file);
}

/** What the Kubernetes client has from packages for proxies, and how each of it is reached. */
const seldom: Readonly<Record<string, { names: string; late: string }>> = {
  'socks-proxy-agent': {
    names: 'SocksProxyAgent',
    late: 'export function SocksProxyAgent(...given) { return new (load().SocksProxyAgent)(...given); }',
  },
  socks: {
    names: 'SocksClient',
    late: `export const SocksClient = {
      createConnection: (...given) => load().SocksClient.createConnection(...given) };`,
  },
};

/** Has them run when they are used: most clusters are reached without a proxy, and everybody waits for the start. */
export const loadSeldomLate: Plugin = {
  name: 'load-seldom-late',
  setup(build) {
    build.onResolve({ filter: /^[a-z-]+$/ }, ({ path, kind, importer, resolveDir: pluginData }) => {
      const isAsked = kind === 'import-statement' && isOfClientNode(importer);
      return isAsked && Object.hasOwn(seldom, path) ? { path, namespace: 'late', pluginData } : undefined;
    });
    build.onLoad({ filter: /.*/, namespace: 'late' }, ({ path, pluginData }) => ({
      contents: `const load = () => require('seldom:${path}'); ${seldom[path]?.late}`,
      pluginData,
    }));
    build.onResolve({ filter: /^seldom:/ }, ({ path, pluginData }) => ({
      path: path.slice('seldom:'.length),
      namespace: 'seldom',
      pluginData,
    }));
    build.onLoad({ filter: /.*/, namespace: 'seldom' }, ({ path, pluginData }) => ({
      contents: `export { ${seldom[path]?.names} } from '${path}';`,
      resolveDir: String(pluginData),
    }));
  },
};

/** arcctl plans transfers, and leaves the judgement of signatures to the worker: a fifth of what it would carry for registries. */
export const leaveJudgesOut: Plugin = {
  name: 'leave-judges-out',
  setup(build) {
    build.onLoad({ filter: /[\\/]transfer[\\/]policy[\\/]keyless\.ts$/ }, () => ({
      contents: "export const keylessJudge = () => { throw new Error('this bundle judges no signatures'); };",
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

/** Bare names and `node:` names of what Node brings, imported from a program. */
function onBuiltins(build: PluginBuild, contentsOf: (name: string) => string): void {
  const namespace = 'builtin';
  build.onResolve({ filter: /^[a-z]/ }, ({ path, kind }) =>
    kind === 'import-statement' && isBuiltin(path) ? { path, namespace } : undefined,
  );
  build.onLoad({ filter: /.*/, namespace }, ({ path }) => ({ contents: contentsOf(path) }));
}

/**
 * Has Node's modules as they are, and not as ES modules: for such a one Node reads every export, and so loads what stands behind
 * getters (WebSocket behind node:http, WebCrypto behind node:crypto).
 */
export const plainBuiltins: Plugin = {
  name: 'plain-builtins',
  setup: (build) =>
    onBuiltins(build, (name) => `module.exports = process.getBuiltinModule(${JSON.stringify(name)});`),
};

/** Plain objects of functions, of which a start calls few or none. */
const lateBuiltins =
  /^(node:)?(child_process|crypto|fs\/promises|https?|net|os|readline|readline\/promises|tls|util|zlib)$/;

/** The same for commands, which people wait for: what `--help` does not use of Node is loaded when one of its names is first used. */
export const builtinsWhenUsed: Plugin = {
  name: 'builtins-when-used',
  setup: (build) =>
    onBuiltins(build, (name) => {
      const get = `process.getBuiltinModule(${JSON.stringify(name)})`;
      if (!lateBuiltins.test(name)) return `module.exports = ${get};`;
      const names = Object.keys(process.getBuiltinModule(name) ?? {});
      return `let all;
        for (const name of ${JSON.stringify(names)})
          Object.defineProperty(exports, name, { enumerable: true, get: () => (all ??= ${get})[name] });`;
    }),
};
