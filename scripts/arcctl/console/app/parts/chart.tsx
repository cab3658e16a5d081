import { lazy, Suspense } from 'react';
import type { Minute } from '../../api.ts';
import { bytesText, clockText } from '../data/format.ts';

const Plot = lazy(() => import('./plot.tsx'));

/** The throughput of the last hour: a chart, and its figures as an accessible table. */
export function Throughput({ minutes }: { minutes: readonly Minute[] }) {
  const bytes = minutes.reduce((total, minute) => total + minute.bytes, 0);
  const arrived = minutes.reduce((total, minute) => total + minute.arrived, 0);
  const busy = minutes.filter((minute) => minute.bytes > 0 || minute.arrived > 0);
  return (
    <section className="card" aria-labelledby="throughput-head">
      <header className="card-head">
        <h2 id="throughput-head">Throughput</h2>
        <p className="card-figures">
          <strong>{bytesText(bytes)}</strong> copied, <strong>{arrived}</strong> artifacts succeeded in the
          last hour
        </p>
      </header>
      <div className="chart">
        <Suspense fallback={<span className="bone chart-bone" />}>
          <Plot minutes={minutes} />
        </Suspense>
      </div>
      {busy.length > 0 && (
        <details className="chart-figures">
          <summary>Figures</summary>
          <table>
            <thead>
              <tr>
                <th scope="col">Minute</th>
                <th scope="col">Moved</th>
                <th scope="col">Arrived</th>
              </tr>
            </thead>
            <tbody>
              {busy.toReversed().map((minute) => (
                <tr key={minute.atMs}>
                  <th scope="row">{clockText(minute.atMs)}</th>
                  <td>{bytesText(minute.bytes)}</td>
                  <td>{minute.arrived}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      )}
    </section>
  );
}
