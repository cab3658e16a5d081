/**
 * Returns the names in the path of `file:///path`; none of them leads out of a root folder. undefined for any other URL, and where a name
 * cannot be that of a folder.
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
    // No file has this name.
    return '';
  }
}
