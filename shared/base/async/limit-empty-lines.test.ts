import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { limitEmptyLines } from './limit-empty-lines.ts';

let server: Server;
let socket: net.Socket;
let answers: string;
beforeEach(async () => {
  answers = '';
  server = createServer(async (request, response) => {
    if (request.url === '/early') return response.end('/early;');
    let body = '';
    for await (const chunk of request) body += chunk;
    return response.end(`${request.url} ${body.length};`);
  });
  limitEmptyLines(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  socket = net.connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined).on('data', (chunk) => (answers += chunk));
});
afterEach(async () => {
  socket.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

async function until(text: string): Promise<void> {
  while (!answers.includes(text)) await once(socket, 'data');
}

it('refuses a connection that sends nothing but empty lines', async () => {
  const closed = once(socket, 'close');
  socket.write('\r\n'.repeat(5));
  await closed;
  expect(answers).toMatch(/^HTTP\/1.1 400 Bad Request\r\nConnection: close\r\n\r\n$/);
});

it('refuses one that sends them after a request, a few at a time', async () => {
  socket.write(get('/a'));
  await until('/a 0;');
  const closed = once(socket, 'close');
  for (let line = 0; line < 5; line += 1) {
    socket.write('\r\n');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await closed;
  expect(answers).toMatch(/\/a 0;[\s\S]*HTTP\/1.1 400 /);
});

it('ignores a few before a request, and takes any number within a body', async () => {
  const body = '\r\n'.repeat(500);
  const post = `POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`;
  for (let round = 1; round <= 3; round += 1) {
    socket.write(`\r\n\r\n${get('/a')}`);
    await until(`${'/a 0;'}`);
    socket.write(`\r\n${post}`);
    for (let part = 0; part < 10; part += 1) {
      socket.write(body.slice(part * 100, part * 100 + 100));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await until('/b 1000;');
    answers = '';
  }
  // Pipelined, with the second body still under way when the first is answered.
  socket.write(`${get('/a')}${post}${body.slice(0, 100)}`);
  await until('/a 0;');
  socket.write(body.slice(100));
  await until('/b 1000;');
});

it('takes any number within a body that comes after the answer', async () => {
  for (let round = 1; round <= 2; round += 1) {
    socket.write('POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n');
    await until('/early;');
    for (let part = 0; part < 10; part += 1) {
      socket.write('\r\n'.repeat(50));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    socket.write(get('/a'));
    await until('/a 0;');
    answers = '';
  }
  const closed = once(socket, 'close');
  socket.write('\r\n'.repeat(5));
  await closed;
  expect(answers).toMatch(/^HTTP\/1.1 400 /);
});
