/** Run inside the cluster with one argument, `{"url","headers","body"}`: POSTs it, and prints what came back and after how long. */
import http from 'node:http';

const { url, headers, body } = JSON.parse(process.argv.at(-1) ?? '');
const begun = performance.now();
const request = http.request(url, { method: 'POST', headers, agent: false }, (answer) => {
  answer.resume();
  answer.once('end', () => {
    const milliseconds = performance.now() - begun;
    console.log(JSON.stringify({ status: answer.statusCode, milliseconds }));
  });
});
request.setTimeout(60_000, () => request.destroy(new Error(`${url} does not answer`)));
request.end(body);
