import { isBuiltin } from 'node:module';
import type { Plugin } from 'esbuild';

/**
 * Takes out of a bundle what no program of ours uses and every start would pay for, where tree shaking cannot see it because the
 * package is CommonJS. Who imports what is taken out fails to build, or is told at its first call.
 */
export const leaveOut: Plugin = {
  name: 'leave-out',
  setup(build) {
    // Its HTTP, Kafka and MQTT messages and emitters, with JSON for big numbers: we have the event itself from it.
    build.onLoad({ filter: /[\\/]cloudevents[\\/]dist[\\/]index\.js$/ }, () => ({
      contents: "export { CloudEvent } from './event/cloudevent.js';",
    }));
    // Loggers in worker threads, which a bundle cannot start anyway (shared/telemetry says so).
    build.onLoad({ filter: /[\\/]pino[\\/]lib[\\/]transport\.js$/ }, () => ({
      contents: "module.exports = () => { throw new Error('this bundle has no transports of pino'); };",
    }));
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
