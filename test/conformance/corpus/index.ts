import { applies } from './apply.ts';
import { deletes } from './deletes.ts';
import { documents } from './documents.ts';
import { errors } from './errors.ts';
import { forms } from './forms.ts';
import { patches } from './patches.ts';
import { reads } from './reads.ts';
import type { Scenario } from './scenario.ts';
import { watches } from './watches.ts';
import { writes } from './writes.ts';

/** Everything that is sent, by topic. */
export const corpus: readonly Scenario[] = [
  ...reads,
  ...writes,
  ...patches,
  ...deletes,
  ...watches,
  ...errors,
  ...applies,
  ...documents,
  ...forms,
];
