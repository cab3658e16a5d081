// Keeps <main> as the server draws it, while the page is in sight. All else works without this file.
const main = document.querySelector('main[data-live]');
const state = document.getElementById('live-state');
let source;

/** Makes `from` equal to `to`, and leaves what is equal in place: with its focus, its selection and what was unfolded. */
function morph(from, to) {
  if (from.nodeName !== to.nodeName) return from.replaceWith(to);
  if (from.nodeType !== Node.ELEMENT_NODE) {
    if (from.data !== to.data) from.data = to.data;
    return;
  }
  if (from.isEqualNode(to)) return;
  // Its text comes from a stream of its own.
  if (from.dataset?.follow && from.dataset.follow === to.dataset.follow) return;
  morphAttributes(from, to);
  const keyed = new Map([...from.children].filter(({ id }) => id).map((child) => [child.id, child]));
  let at = from.firstChild;
  for (const child of [...to.childNodes]) {
    const same = child.id
      ? keyed.get(child.id)
      : at && !at.id && at.nodeName === child.nodeName
        ? at
        : undefined;
    if (!same) {
      from.insertBefore(child, at);
      continue;
    }
    if (same === at) at = at.nextSibling;
    else from.insertBefore(same, at);
    morph(same, child);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

/** What people have typed, chosen or unfolded is theirs. */
const own = new Set(['open', 'value', 'selected', 'checked']);

function morphAttributes(from, to) {
  const isOwn = (name) => own.has(name) && from.nodeName !== 'PROGRESS';
  for (const { name } of [...from.attributes])
    if (!to.hasAttribute(name) && !isOwn(name)) from.removeAttribute(name);
  for (const { name, value } of to.attributes)
    if (from.getAttribute(name) !== value && !isOwn(name)) from.setAttribute(name, value);
}

function say(text) {
  if (state.textContent !== text) state.textContent = text;
}

function open() {
  if (source || document.hidden) return;
  source = new EventSource(main.dataset.live);
  source.addEventListener('open', () => say('Live'));
  source.addEventListener('page', ({ data }) => {
    const next = new DOMParser().parseFromString(data, 'text/html').querySelector('main');
    if (next) morph(main, next);
  });
  source.addEventListener('error', () => {
    const isOver = source.readyState === EventSource.CLOSED;
    say(isOver ? 'Not live: reload the page' : 'Connection lost: trying again');
  });
}

function close() {
  source?.close();
  source = undefined;
}

/** As much of a log as a page keeps. */
const mostCharacters = 500_000;

/** Follows a log while its part of the page is unfolded. */
function follow(part) {
  const shown = part.querySelector('[data-follow]');
  let lines;
  const add = (text) => {
    const isAtEnd = shown.scrollTop + shown.clientHeight >= shown.scrollHeight - 20;
    if (shown.dataset.begun === undefined) shown.textContent = '';
    shown.dataset.begun = '';
    shown.append(`${text}\n`);
    while (shown.textContent.length > mostCharacters) shown.firstChild.remove();
    if (isAtEnd) shown.scrollTop = shown.scrollHeight;
  };
  const stop = () => {
    lines?.close();
    lines = undefined;
  };
  const start = () => {
    if (lines || !part.open || document.hidden) return;
    lines = new EventSource(shown.dataset.follow);
    lines.addEventListener('open', () => {
      shown.textContent = 'Nothing yet.';
      delete shown.dataset.begun;
    });
    lines.addEventListener('lines', ({ data }) => add(data));
    lines.addEventListener('refused', ({ data }) => {
      add(data);
      stop();
    });
    lines.addEventListener('error', () => {
      if (lines?.readyState === EventSource.CLOSED) add('The log has ended: fold it and unfold it again.');
    });
  };
  part.addEventListener('toggle', () => (part.open ? start() : stop()));
  document.addEventListener('visibilitychange', () => (document.hidden ? stop() : start()));
  window.addEventListener('pagehide', stop);
  window.addEventListener('pageshow', start);
  start();
}

if (main) {
  open();
  for (const part of main.querySelectorAll('details.follow')) follow(part);
  // Who does not look needs no connection; browsers keep only six to one server.
  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));
  window.addEventListener('pagehide', close);
  window.addEventListener('pageshow', open);
}
