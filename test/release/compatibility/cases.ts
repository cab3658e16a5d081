import { artifactCases } from './artifact-tools.ts';
import { containerCases } from './container-tools.ts';
import type { Case } from './ground.ts';
import { imageCases } from './image-tools.ts';

/** The rows of the page. */
export const cases: readonly Case[] = [...imageCases, ...containerCases, ...artifactCases];
