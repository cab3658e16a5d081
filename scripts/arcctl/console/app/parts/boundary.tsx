import { Bug } from 'lucide-react';
import { Component, type ReactNode } from 'react';
import { Empty } from './states.tsx';

/** Error boundary: shows a message in place of a page that fails to render. A changed `of` retries. */
export class Boundary extends Component<
  { of: string; children: ReactNode },
  { failed: string | undefined; of: string }
> {
  override state = { failed: undefined, of: this.props.of };

  static getDerivedStateFromError(caught: unknown) {
    return { failed: caught instanceof Error ? caught.message : String(caught) };
  }

  static getDerivedStateFromProps({ of }: { of: string }, state: { failed: string | undefined; of: string }) {
    return of === state.of ? null : { failed: undefined, of };
  }

  override render() {
    const { failed } = this.state;
    if (failed === undefined) return this.props.children;
    return (
      <Empty icon={<Bug size={26} aria-hidden />} title="This page cannot be displayed">
        <p>{failed}</p>
        <button type="button" className="button" onClick={() => location.reload()}>
          Reload
        </button>
      </Empty>
    );
  }
}
