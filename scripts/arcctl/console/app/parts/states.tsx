import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Topic } from '../data/topic.ts';

/** Something is not as it should be, and the page shows what it has. */
export function Notice({ children, tone = 'bad' }: { children: ReactNode; tone?: 'bad' | 'warn' }) {
  return (
    <div className={`notice tone-${tone}`} role="status">
      <TriangleAlert size={15} className="icon" aria-hidden />
      <div>{children}</div>
    </div>
  );
}

interface EmptyProps {
  icon?: ReactNode;
  title: string;
  children?: ReactNode;
  /** True where it is all that the page has. */
  isPage?: boolean;
}

/** There is nothing to show, and what to do about it. */
export function Empty({ icon, title, children, isPage = false }: EmptyProps) {
  const Title = isPage ? 'h1' : 'p';
  return (
    <div className="empty">
      {icon && <span className="empty-icon">{icon}</span>}
      <Title className="empty-title">{title}</Title>
      {children && <div className="empty-text">{children}</div>}
    </div>
  );
}

/** Lines in place of what is being read. */
export function Loading({ lines = 6 }: { lines?: number }) {
  return (
    <div className="loading" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
        <span key={index} className="bone" />
      ))}
    </div>
  );
}

/** In place of a list until it is read; what went wrong is said elsewhere. */
export function Pending({ topic, lines = 8 }: { topic: Topic; lines?: number }) {
  return topic.problem ? null : <Loading lines={lines} />;
}

/** A heading of a page with what can be done there. */
export function PageHead({
  title,
  text,
  children,
}: {
  title: ReactNode;
  text?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <header className="page-head">
      <div className="page-title">
        <h1>{title}</h1>
        {text && <div className="page-text">{text}</div>}
      </div>
      {children && <div className="page-actions">{children}</div>}
    </header>
  );
}
