import { describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { parseStartArguments } from './arguments.ts';

describe('the command of npm start', () => {
  it('is one of any shell: that of Windows takes no variables before a program', () => {
    expect(manifest.scripts.start).toMatch(/^node /);
    expect(manifest.scripts.start).not.toMatch(/[$%^&|<>`!]/);
  });
});

describe('the arguments of npm start', () => {
  it('have defaults that need no typing', () => {
    expect(parseStartArguments([])).toEqual({
      folder: '.arc',
      port: 0,
      logLevel: 'warn',
      programs: {},
      without: [],
      recover: false,
      withRegistry: false,
    });
  });

  it('print the version of the release', () => {
    expect(parseStartArguments(['--version'])).toEqual({ help: manifest.version });
  });

  it('take programs for images', () => {
    expect(parseStartArguments(['--program', 'trivy:*=/usr/bin/trivy --quiet=true'])).toMatchObject({
      programs: { 'trivy:*': ['/usr/bin/trivy', '--quiet=true'] },
    });
  });

  it('switch features off, in one list or several', () => {
    expect(parseStartArguments(['--without', 'cron,ttl', '--without', 'log-tail'])).toMatchObject({
      without: ['cron', 'ttl', 'log-tail'],
    });
  });

  it('have a damaged store recovered only where that is asked for', () => {
    expect(parseStartArguments(['--recover'])).toMatchObject({ recover: true });
  });

  it('add registries and a subscriber', () => {
    expect(parseStartArguments(['--with-registry', '--sink', 'http://127.0.0.1:8080/events'])).toMatchObject({
      withRegistry: true,
      sink: new URL('http://127.0.0.1:8080/events'),
    });
  });

  it.each(['--help', '-h'])('give help where %s asks for it', (flag) => {
    expect(parseStartArguments([flag])).toEqual({ help: expect.stringContaining('usage: npm start') });
  });

  it.each([
    [['--port', 'abc'], '--port abc: give a number'],
    [['--port', '70000'], '--port 70000'],
    [['--log-level', 'loud'], '--log-level loud'],
    [['--program', 'trivy'], '--program trivy: give'],
    [['--folder', ''], '--folder: give'],
    [['--without', 'cron,crown'], '--without crown: use some of cron, ttl, probes, log-tail, domain-events'],
    [['--without', ''], '--without : use'],
    [['--sink', 'localhost:8080'], '--sink localhost:8080: give an http:// or https:// URL'],
    [['--prot', '1'], "Unknown option '--prot'"],
  ])('name what is wrong with %j', (args, message) => {
    const parsed = parseStartArguments(args);
    expect('usage' in parsed ? parsed.usage : '').toContain(message);
  });
});
