import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from 'pino';
import * as z from 'zod';
import { recordName } from './processes/child.ts';
import { endSurvivors, type ProcessMark } from './processes/processes.ts';
import { readIfThere, runVariable } from './run-folder.ts';

const markSchema = z.object({ pid: z.int().min(2), startTime: z.string() });

/**
 * Ends the programs that an earlier executor left running and removes its run folders. Afterwards no program of an earlier run is
 * alive, so that unfinished Workflows can be run again.
 */
export async function recoverRuns(workFolder: string, graceMs: number, log: Logger): Promise<void> {
  await mkdir(workFolder, { recursive: true, mode: 0o700 });
  const runs = await readdir(workFolder);
  await Promise.all(
    runs.map(async (run) => {
      const folder = path.join(workFolder, run);
      const mark = parseMark(await readIfThere(path.join(folder, recordName), 4096));
      if (mark && (await endSurvivors(mark, `${runVariable}=${run}`, graceMs))) {
        log.warn({ run, pid: mark.pid }, 'a program had outlived the executor that started it: it was ended');
      }
      await rm(folder, { recursive: true, force: true });
    }),
  );
}

/** A truncated record belongs to a program that never started: the program waits until its record is complete. */
function parseMark(text: string | undefined): ProcessMark | undefined {
  if (text === undefined) return undefined;
  try {
    return markSchema.parse(JSON.parse(text));
  } catch (caught) {
    if (caught instanceof SyntaxError || caught instanceof z.ZodError) return undefined;
    throw caught;
  }
}
