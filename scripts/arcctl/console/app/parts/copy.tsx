import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';

/** A button that copies text to the clipboard. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), 1_500);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = () => void navigator.clipboard.writeText(text).then(() => setCopied(true));
  return (
    <button
      type="button"
      className="icon-button small"
      onClick={copy}
      title={`Copy ${what}`}
      aria-label={isCopied ? 'Copied' : `Copy ${what}`}
    >
      {isCopied ? <Check size={13} className="tone-good" aria-hidden /> : <Copy size={13} aria-hidden />}
    </button>
  );
}

/** A shortened digest with a button that copies all of it. */
export function Digest({ digest }: { digest: string }) {
  if (digest === '') return <span className="quiet">–</span>;
  const [algorithm, hash = ''] = digest.split(':');
  return (
    <span className="digest">
      <code title={digest}>
        {algorithm}:{hash.slice(0, 12)}
      </code>
      <CopyButton text={digest} what="digest" />
    </span>
  );
}
