// Makes the demo into a page that works from a folder, without a server: its modules become one plain script. It cannot run models,
// because no runtime is beside it. Usage: node viewer.mjs FOLDER
import { mkdir, copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

const out = process.argv[2];
const demo = new URL('../demo/', import.meta.url);
await build({
  entryPoints: [new URL('demo.js', demo).pathname],
  outfile: join(out, 'demo.js'),
  bundle: true,
  minify: true,
  format: 'iife',
  charset: 'utf8',
  target: 'es2022',
  logLevel: 'warning',
});
await mkdir(out, { recursive: true });
await copyFile(new URL('demo.css', demo), join(out, 'demo.css'));
const page = await readFile(new URL('index.html', demo), 'utf8');
const script = '<script type="module" src="demo.js"></script>';
if (!page.includes(script)) throw new Error(`demo/index.html lacks ${script}`);
const changed = '<style>#run { display: none !important; }</style>\n    <script defer src="demo.js"></script>';
await writeFile(join(out, 'index.html'), page.replace(script, changed));
