import { ArcError, printable } from '#shared/base/errors';

/** Hints for system errors. */
const hints: Readonly<Record<string, string>> = {
  EACCES: 'no write permission: choose another folder',
  EPERM: 'no write permission: choose another folder',
  EROFS: 'the file system is read-only: choose another folder',
  ENOTDIR: 'a part of the path is a file, not a folder',
  EEXIST: 'it is a file, not a folder',
  ENOSPC: 'the disk is full',
  EMFILE: 'too many open files: raise the limit (ulimit -n)',
};

/** Returns the message of a failed program for its user: one line, no stack trace. */
export function failureText(caught: unknown): string {
  const found = caught instanceof Error && 'code' in caught ? caught : undefined;
  const hint = found && !(found instanceof ArcError) ? hints[String(found.code)] : undefined;
  const place = found && 'path' in found ? `${String(found.path)}: ` : '';
  if (hint !== undefined) return `${place}${hint}`;
  if (found && found.name === 'SyntaxError') return printable(`${place}${found.message}`);
  return ArcError.from(caught).message;
}
