import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Topic } from '../data/topic.ts';

/** A message about a problem that leaves the page usable. */
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
  /** True if the page has no other content. */
  isPage?: boolean;
}

/** A placeholder for missing content, with a hint. */
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

/** A skeleton while data loads. */
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

/** A skeleton until a topic is ready; errors are shown elsewhere. */
export function Pending({ topic, lines = 8 }: { topic: Topic; lines?: number }) {
  return topic.problem ? null : <Loading lines={lines} />;
}

/** The heading of a page with its actions. */
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
