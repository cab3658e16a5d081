/**
 * The names of the folder that `file:///path` means below some root: none leads out of it. undefined for any other URL, and for a name that
 * no folder can have.
 */
export function folderNames(remoteURL: string): string[] | undefined {
  const url = URL.parse(remoteURL);
  if (url?.protocol !== 'file:' || url.host !== '' || url.search !== '') return undefined;
  const names = url.pathname.split('/').filter(Boolean).map(decoded);
  return names.every((name) => !/^\.{0,2}$|[/\\\p{Cc}]/u.test(name)) ? names : undefined;
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    // Not the name of any file.
    return '';
  }
}
