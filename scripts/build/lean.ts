import { isBuiltin } from 'node:module';
import type { Plugin, PluginBuild } from 'esbuild';

/**
 * Removes unused parts of CommonJS packages, which tree shaking cannot detect. A bundle that imports a removed part fails at build time or at
 * its first call.
 */
export const removeUnusedCode: Plugin = {
  name: 'leave-out',
  setup(build) {
    // Drops HTTP, Kafka and MQTT messages and emitters, and JSON for big numbers: only the event class is used.
    build.onLoad({ filter: /[\\/]cloudevents[\\/]dist[\\/]index\.js$/ }, () => ({
      contents: "export { CloudEvent } from './event/cloudevent.js';",
    }));
    // Keeps only kubeconfig and authentication of the Kubernetes client, without API classes, watches and its HTTP client.
    build.onLoad({ filter: /[\\/]client-node[\\/]dist[\\/]index\.js$/ }, () => ({
      contents: "export { KubeConfig } from './config.js';",
    }));
    build.onLoad({ filter: /[\\/]client-node[\\/]dist[\\/]gen[\\/]index\.js$/ }, () => ({
      contents: `export const createConfiguration = () => { throw new Error('this bundle has no API classes of client-node'); };
        export const ServerConfiguration = createConfiguration;`,
    }));
    // Legacy auth providers: shared/kubernetes/client/kubeconfig/auth-provider.ts never passes them on.
    build.onLoad({ filter: /[\\/]client-node[\\/]dist[\\/](azure|gcp|oidc)_auth\.js$/ }, () => ({
      contents: `class None { isAuthProvider() { return false; } }
        export { None as AzureAuth, None as GoogleCloudPlatformAuth, None as OpenIDConnectAuth };`,
    }));
    // Documents are passed to client-node as JSON.
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
    // Worker-thread transports, which a bundle cannot start anyway (see shared/base/telemetry).
    build.onLoad({ filter: /[\\/]pino[\\/]lib[\\/]transport\.js$/ }, () => ({
      contents: "module.exports = () => { throw new Error('this bundle has no transports of pino'); };",
    }));
  },
};

function isOfClientNode(file: string): boolean {
  return /[\\/]client-node[\\/]dist[\\/]/.test(file);
}

/** The client's proxy packages, and how to load each lazily. */
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

/** Loads them lazily: most clusters are reached without a proxy. */
export const loadProxiesLazily: Plugin = {
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

/** arcctl plans transfers but leaves signature verification to the worker, which saves a fifth of its registry code. */
export const removeVerifiers: Plugin = {
  name: 'leave-judges-out',
  setup(build) {
    build.onLoad({ filter: /[\\/]transfer[\\/]policy[\\/]keyless\.ts$/ }, () => ({
      contents: "export const keylessJudge = () => { throw new Error('this bundle judges no signatures'); };",
    }));
  },
};

/** The file beside every bundle that a program loads to read a kubeconfig. */
export const kubeconfigFile = 'kubeconfig.mjs';

/** Excludes the lazily loaded kubeconfig folder from bundles, which load `kubeconfigFile` instead. */
export const excludeKubeconfig: Plugin = {
  name: 'kubeconfig-apart',
  setup(build) {
    build.onResolve({ filter: /\/kubeconfig\/index\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: `./${kubeconfigFile}`, external: true } : undefined,
    );
  },
};

/** Intercepts imports of Node's built-in modules. */
function onBuiltins(build: PluginBuild, contentsOf: (name: string) => string): void {
  const namespace = 'builtin';
  build.onResolve({ filter: /^[a-z]/ }, ({ path, kind }) =>
    kind === 'import-statement' && isBuiltin(path) ? { path, namespace } : undefined,
  );
  build.onLoad({ filter: /.*/, namespace }, ({ path }) => ({ contents: contentsOf(path) }));
}

/**
 * Imports built-in modules with getBuiltinModule instead of as ES modules, for which Node evaluates all getters and so loads further modules
 * (WebSocket for node:http, WebCrypto for node:crypto).
 */
export const plainBuiltins: Plugin = {
  name: 'plain-builtins',
  setup: (build) =>
    onBuiltins(build, (name) => `module.exports = process.getBuiltinModule(${JSON.stringify(name)});`),
};

/** Built-in modules that consist of functions, of which a start calls few or none. */
const lateBuiltins =
  /^(node:)?(child_process|crypto|fs\/promises|https?|net|os|readline|readline\/promises|tls|util|zlib)$/;

/** For command-line programs: loads these built-in modules at the first use of one of their names. */
export const loadBuiltinsLazily: Plugin = {
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
