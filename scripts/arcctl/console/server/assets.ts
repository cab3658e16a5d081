import type { ConsoleApp } from '../../../build/console.ts';

/**
 * Returns the front end, bundled on first use. The bundle of arcctl replaces this module by one with the bundled front end
 * (scripts/build/console.ts).
 */
export async function loadConsole(): Promise<ConsoleApp> {
  const [{ buildConsole }, { stop }] = await Promise.all([
    import('../../../build/console.ts'),
    import('esbuild'),
  ]);
  const app = await buildConsole();
  // esbuild's service process is used only once.
  await stop();
  return app;
}
