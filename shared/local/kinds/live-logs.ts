import { StringDecoder } from 'node:string_decoder';
import { maskSecrets } from '#shared/base/errors';
import type { Key } from '#shared/kubernetes/client';

/** What programs print while they run, by the pod that stands for them. In memory: it goes when the pod's own log is there. */
export interface LiveLogs {
  /** Begins the logs of a pod. */
  open(pod: Key): PodLogs;
  /** Those of a pod that runs. */
  find(pod: Key): PodLogs | undefined;
}

export interface PodLogs {
  /** Of one container, whether it has begun or not. */
  of(container: string): LiveLog;
  /** Nothing more is printed; readers get what there is, and come to an end. */
  end(): void;
  /** Whoever looks for them from now on looks at the pod. */
  forget(): void;
}

/** The end of what a container prints, in whole lines. */
export interface LiveLog {
  /** Takes a stream of it, such as stdout. No line is seen by anybody before what it has of `secrets` is masked. */
  input(secrets: readonly string[]): (chunk: Buffer) => void;
  end(): void;
  /** What is kept, each line with its end. */
  text(): string;
  /** The last `tailLines` lines, then those that come, until the end or `signal`. A reader that is too slow misses lines. */
  follow(tailLines: number, signal: AbortSignal): AsyncGenerator<string>;
}

/** Kept of each container that runs. */
const mostLines = 1000;
const mostCharacters = 64 * 1024;
/** A longer line is left out: half of it could not be masked. */
const longestLine = 16 * 1024;

export function createLiveLogs(): LiveLogs {
  const open = new Map<string, PodLogs>();
  const idOf = ({ namespace = '', name }: Key) => `${namespace}/${name}`;
  return {
    open(pod) {
      const logs = new Map<string, LiveLog>();
      let isOver = false;
      const made: PodLogs = {
        of(container) {
          const log = logs.get(container) ?? createLiveLog();
          logs.set(container, log);
          if (isOver) log.end();
          return log;
        },
        end() {
          isOver = true;
          for (const log of logs.values()) log.end();
        },
        forget() {
          if (open.get(idOf(pod)) === made) open.delete(idOf(pod));
        },
      };
      open.set(idOf(pod), made);
      return made;
    },
    find: (pod) => open.get(idOf(pod)),
  };
}

export function createLiveLog(): LiveLog {
  let lines: string[] = [];
  let characters = 0;
  /** Lines that came before those that are kept. */
  let dropped = 0;
  let isOver = false;
  const readers = new Set<() => void>();
  const rests: (() => void)[] = [];

  const wake = () => {
    for (const reader of [...readers]) reader();
  };
  const add = (text: string) => {
    const more = text.split(/(?<=\n)/);
    lines.push(...more.slice(-mostLines));
    characters += text.length;
    let first = Math.max(0, lines.length - mostLines);
    for (let kept = characters - lengthOf(lines.slice(0, first)); kept > mostCharacters; first += 1)
      kept -= lines[first]?.length ?? 0;
    dropped += first + Math.max(0, more.length - mostLines);
    lines = lines.slice(first);
    characters = lengthOf(lines);
    wake();
  };
  const woken = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const reader = () => {
        readers.delete(reader);
        signal.removeEventListener('abort', reader);
        resolve();
      };
      readers.add(reader);
      signal.addEventListener('abort', reader, { once: true });
    });

  return {
    input(secrets) {
      const cut = createCutter(secrets, add);
      rests.push(cut.end);
      return cut.push;
    },
    end() {
      if (isOver) return;
      for (const rest of rests.splice(0)) rest();
      isOver = true;
      wake();
    },
    text: () => lines.join(''),
    async *follow(tailLines, signal) {
      let next = dropped + Math.max(0, lines.length - tailLines);
      while (!signal.aborted) {
        const seen = lines.slice(Math.max(0, next - dropped)).join('');
        next = dropped + lines.length;
        if (seen !== '') yield seen;
        else if (isOver) return;
        else await woken(signal);
      }
    },
  };
}

function lengthOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length, 0);
}

/** Cuts a stream into whole lines and masks them. */
function createCutter(secrets: readonly string[], add: (text: string) => void) {
  const decoder = new StringDecoder('utf8');
  // A secret of several lines may come in pieces.
  const masked = [...new Set(secrets.flatMap((secret) => [secret, ...secret.split(/\r?\n/)]))];
  let rest = '';
  let isTooLong = false;
  const leftOut = `... a line of more than ${longestLine} characters is left out\n`;
  const take = (text: string) => {
    if (isTooLong && text.includes('\n')) {
      isTooLong = false;
      add(leftOut);
      rest = text.slice(text.indexOf('\n') + 1);
    } else if (!isTooLong) rest += text;
    const end = rest.lastIndexOf('\n') + 1;
    const whole = rest.slice(0, end);
    if (whole !== '') add(maskSecrets(whole, masked));
    rest = rest.slice(end);
    if (rest.length <= longestLine) return;
    isTooLong = true;
    rest = '';
  };
  return {
    push: (chunk: Buffer) => take(decoder.write(chunk)),
    end() {
      take(decoder.end());
      if (isTooLong || rest !== '') take('\n');
    },
  };
}
