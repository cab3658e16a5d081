import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDownToLine, Braces, ChevronDown, ChevronUp, Download } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { FilterField } from '../parts/filters.tsx';
import { Chip } from '../parts/phase.tsx';
import type { ReadLine } from './log-lines.ts';

interface LogViewProps {
  /** Base name of the downloaded file. */
  name: string;
  lines: readonly ReadLine[];
  picker: ReactNode;
  state: string;
  none: string;
}

const lineHeight = 22;

/** A log viewer: formatted or raw lines, search, follow, download. */
export function LogView({ name, lines, picker, state, none }: LogViewProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [text, setText] = useState('');
  const [isRaw, setRaw] = useState(false);
  const [isFollowing, setFollowing] = useState(true);
  const [at, setAt] = useState(0);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => lineHeight,
    overscan: 30,
  });
  const shownOf = (line: ReadLine) => (isRaw ? line.raw : line.text);
  const hits = useMemo(() => {
    const wanted = text.toLowerCase();
    if (wanted === '') return [];
    return lines.flatMap((line, index) =>
      `${line.artifact} ${isRaw ? line.raw : line.text}`.toLowerCase().includes(wanted) ? [index] : [],
    );
  }, [lines, text, isRaw]);
  const goTo = (next: number) => {
    if (hits.length === 0) return;
    const place = (next + hits.length) % hits.length;
    setAt(place);
    setFollowing(false);
    virtual.scrollToIndex(hits[place] ?? 0, { align: 'center' });
  };
  useEffect(() => {
    if (isFollowing && lines.length > 0) virtual.scrollToIndex(lines.length - 1, { align: 'end' });
  }, [isFollowing, lines.length, virtual]);
  const onScroll = () => {
    const { current } = scroller;
    if (current && current.scrollHeight - current.scrollTop - current.clientHeight > 3 * lineHeight)
      setFollowing(false);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    goTo(at + (event.shiftKey ? -1 : 1));
  };
  const current = hits[at];
  return (
    <div className="code-box log">
      <div className="code-head">
        {picker}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: Enter in the field goes to the next hit */}
        <span className="log-search" onKeyDown={onKey}>
          <FilterField
            label="Search the log"
            value={text}
            onChange={(value) => {
              setText(value);
              setAt(0);
            }}
          />
          {text !== '' && (
            <>
              <span className="figures quiet" role="status">
                {hits.length === 0 ? 'none' : `${at + 1}/${hits.length}`}
              </span>
              <button
                type="button"
                className="icon-button small"
                aria-label="Previous hit"
                onClick={() => goTo(at - 1)}
              >
                <ChevronUp size={14} aria-hidden />
              </button>
              <button
                type="button"
                className="icon-button small"
                aria-label="Next hit"
                onClick={() => goTo(at + 1)}
              >
                <ChevronDown size={14} aria-hidden />
              </button>
            </>
          )}
        </span>
        <span className="grows" />
        <Chip tone={state === 'Live' ? 'good' : 'quiet'}>{state}</Chip>
        <button type="button" className="toggle" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
          <Braces size={13} aria-hidden />
          As printed
        </button>
        <button
          type="button"
          className="toggle"
          aria-pressed={isFollowing}
          onClick={() => setFollowing(!isFollowing)}
        >
          <ArrowDownToLine size={13} aria-hidden />
          Follow
        </button>
        <button
          type="button"
          className="icon-button"
          aria-label="Download the log"
          title="Download"
          onClick={() => download(name, lines)}
        >
          <Download size={15} aria-hidden />
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <div className="log-lines" role="log" aria-label="Log" tabIndex={0} ref={scroller} onScroll={onScroll}>
        {lines.length === 0 && <p className="log-none">{none}</p>}
        <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {virtual.getVirtualItems().map(({ index, start, key }) => {
            const line = lines[index];
            if (!line) return null;
            return (
              <div
                key={key}
                data-index={index}
                ref={virtual.measureElement}
                className={`log-line log-${line.tone}${index === current ? ' is-hit' : ''}`}
                style={{ transform: `translateY(${start}px)` }}
              >
                <span className="log-number">{index + 1}</span>
                {line.artifact !== '' && <span className="log-artifact">{line.artifact}: </span>}
                <span className="log-text">
                  <Marked text={shownOf(line)} wanted={text} />
                </span>
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

function Marked({ text, wanted }: { text: string; wanted: string }) {
  const at = wanted === '' ? -1 : text.toLowerCase().indexOf(wanted.toLowerCase());
  if (at < 0) return text;
  return (
    <>
      {text.slice(0, at)}
      <mark>{text.slice(at, at + wanted.length)}</mark>
      {text.slice(at + wanted.length)}
    </>
  );
}

function download(name: string, lines: readonly ReadLine[]): void {
  const text = lines.map(({ artifact, raw }) => (artifact === '' ? raw : `${artifact}: ${raw}`)).join('\n');
  const url = URL.createObjectURL(new Blob([`${text}\n`], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${name}.log`;
  link.click();
  URL.revokeObjectURL(url);
}
