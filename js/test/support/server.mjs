// nginx as users have it, for one test run: the repository and a folder of files, with and without ranges, on two ports.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What the pages may do: no code but files of this server. Runtimes also need to compile WebAssembly. */
const STRICT =
  "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src *; style-src 'self'; img-src 'self'";
const WITH_WASM = STRICT.replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval' blob:").replace(
  '*;',
  '* blob:;',
);

async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

function configuration(folder, places, ports) {
  const isolated =
    'add_header Cross-Origin-Opener-Policy same-origin; add_header Cross-Origin-Embedder-Policy require-corp;';
  const here = ports.map((port) => `listen 127.0.0.1:${port};`);
  return `worker_processes 1; daemon off; error_log ${folder}/error.log; pid ${folder}/pid;
events { worker_connections 512; }
http {
  access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  types { text/html html; text/javascript js mjs; application/wasm wasm; application/json json; text/css css; }
  default_type application/octet-stream;
  server {
    ${here[0]}
    location /package/ { alias ${places.package}/; add_header Content-Security-Policy "${STRICT}"; }
    location /wasm/ { alias ${places.package}/; add_header Content-Security-Policy "${WITH_WASM}"; ${isolated} }
    location /vectors/ { alias ${places.vectors}/; }
    location /files/ { alias ${places.files}/; }
    location /whole/ { alias ${places.files}/; max_ranges 0; }
    location /moved/ { rewrite ^/moved/(.*)$ /files/$1 redirect; }
    location /away/ { rewrite ^/away/(.*)$ http://127.0.0.1:${ports[1]}/open/$1 redirect; }
  }
  server {
    ${here[1]}
    location /open/ { alias ${places.files}/; add_header Access-Control-Allow-Origin *; }
    location /exposed/ {
      alias ${places.files}/; add_header Access-Control-Allow-Origin *;
      add_header Access-Control-Expose-Headers "Content-Range, ETag";
    }
    location /closed/ { alias ${places.files}/; }
  }
}`;
}

/** Starts nginx; `places` are the folders package, vectors and files. */
export async function serve(places) {
  const folder = mkdtempSync(join(tmpdir(), 'onnxar-nginx-'));
  mkdirSync(join(folder, 'body'));
  const ports = [await freePort(), await freePort()];
  writeFileSync(join(folder, 'nginx.conf'), configuration(folder, places, ports));
  const server = spawn('/usr/sbin/nginx', ['-e', join(folder, 'error.log'), '-c', join(folder, 'nginx.conf')], {
    stdio: 'inherit',
  });
  const [here, other] = ports.map((port) => `http://127.0.0.1:${port}`);
  for (let tries = 0; !(await fetch(here).catch(() => false)); tries++) {
    if (tries === 100) throw new Error('nginx did not start');
    await new Promise((done) => setTimeout(done, 100));
  }
  const stop = async () => {
    server.kill();
    await new Promise((done) => server.once('exit', done));
    rmSync(folder, { recursive: true });
  };
  return { here, other, stop };
}
