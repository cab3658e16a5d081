import { CircleCheck, LoaderCircle } from 'lucide-react';
import type { DryRun } from '../../api.ts';
import { Chip, type Tone } from '../parts/phase.tsx';
import { Notice } from '../parts/states.tsx';

const words: Readonly<Record<string, readonly [text: string, tone: Tone]>> = {
  run: ['would run', 'good'],
  're-use': ['already copied', 'good'],
  'goes on': ['in progress', 'busy'],
  wait: ['would wait', 'warn'],
  refuse: ['would be rejected', 'bad'],
  cancel: ['cancelled', 'quiet'],
};

/** The result of the dry run of a new Order. */
export function Outcome({
  result,
  problem,
  isAsking,
}: {
  result: DryRun | undefined;
  problem: string;
  isAsking: boolean;
}) {
  return (
    <section className="outcome" aria-label="Dry run" aria-live="polite">
      <header className="card-head">
        <h2>Dry run</h2>
        <span className="quiet">
          {isAsking ? (
            <LoaderCircle size={14} className="turning" aria-label="Asking" />
          ) : (
            'nothing is stored'
          )}
        </span>
      </header>
      <div className="outcome-body">
        {problem && <Notice>{problem}</Notice>}
        {!problem && result?.refused && <Notice>{result.refused}</Notice>}
        {!problem && result && !result.refused && (
          <>
            <p className="outcome-good">
              <CircleCheck size={15} className="tone-good" aria-hidden />
              The API accepts it.
            </p>
            <ul className="outcome-list">
              {result.outcomes.map(({ artifact, action, reason, message }) => {
                const [text, tone] = words[action] ?? [action, 'quiet'];
                return (
                  <li key={artifact}>
                    <strong>{artifact}</strong>
                    <Chip tone={tone}>{text}</Chip>
                    <span>{[reason, message === 'new' ? '' : message].filter(Boolean).join(': ')}</span>
                  </li>
                );
              })}
            </ul>
          </>
        )}
        {!problem && !result && <p className="quiet">Fill in the form to see a preview of the Order here.</p>}
      </div>
    </section>
  );
}
