import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import type { Minute } from '../../api.ts';
import { bytesText, clockText } from '../data/format.ts';

const height = 150;

/** The chart: bytes as bars, completed artifacts as dots. chart.tsx has the figures as text. */
export default function Plot({ minutes }: { minutes: readonly Minute[] }) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const theme = useTheme();
  const [at, setAt] = useState<number | null>(null);
  const latest = useRef(minutes);
  latest.current = minutes;
  // `theme` triggers a redraw, because the colours come from CSS.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    const element = holder.current;
    if (!element) return;
    const chart = new uPlot(optionsOf(element.clientWidth, setAt), dataOf(latest.current), element);
    plot.current = chart;
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [theme]);
  useEffect(() => plot.current?.setData(dataOf(minutes)), [minutes]);
  const pointed = at === null ? undefined : minutes[at];
  const total = minutes.reduce((sum, minute) => sum + minute.bytes, 0);
  return (
    <>
      <div
        ref={holder}
        role="img"
        aria-label={`Bytes per minute in the last ${minutes.length} minutes: ${bytesText(total)} in all`}
      />
      <p className="chart-pointed" aria-hidden="true">
        {pointed
          ? `${clockText(pointed.atMs)}: ${bytesText(pointed.bytes)}, ${pointed.arrived} arrived`
          : ' '}
      </p>
    </>
  );
}

function dataOf(minutes: readonly Minute[]): uPlot.AlignedData {
  return [minutes.map(({ atMs }) => atMs / 1000), minutes.map(({ bytes }) => bytes)];
}

function optionsOf(width: number, onPoint: (at: number | null) => void): uPlot.Options {
  const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const [ink, line, bar] = [colour('--chart-ink'), colour('--chart-line'), colour('--chart-bar')];
  const axis = { stroke: ink, font: '11px Inter Variable, sans-serif', ticks: { show: false } };
  return {
    ...{ width, height },
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: {
      x: { time: true, range: (_, first, last) => [first - 30, last + 30] },
      y: { range: (_, __, most) => [0, Math.max(most * 1.15, 1024)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        ...{ space: 70, size: 28 },
        values: (_, ticks) => ticks.map((tick) => clockText(tick * 1000)),
      },
      {
        ...axis,
        grid: { stroke: line, width: 1 },
        size: 66,
        space: 36,
        incrs: Array.from({ length: 40 }, (_, power) => 2 ** (power + 8)),
        values: (_, ticks) => ticks.map((tick) => (tick === 0 ? '0' : bytesText(tick))),
      },
    ],
    series: [
      {},
      {
        fill: bar,
        stroke: bar,
        width: 0,
        points: { show: false },
        ...(uPlot.paths.bars && { paths: uPlot.paths.bars({ size: [0.7, 14], radius: 0.3 }) }),
      },
    ],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
  };
}

/** Returns a value that changes with the theme. */
function useTheme(): number {
  const [round, setRound] = useState(0);
  useEffect(() => {
    const note = () => setRound((before) => before + 1);
    const query = matchMedia('(prefers-color-scheme: dark)');
    query.addEventListener('change', note);
    addEventListener('arc-theme', note);
    return () => {
      query.removeEventListener('change', note);
      removeEventListener('arc-theme', note);
    };
  }, []);
  return round;
}
