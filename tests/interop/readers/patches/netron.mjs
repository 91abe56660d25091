// Opens models in a patched Netron in Chromium, as a user does, and reads what the page shows.
// Usage: node netron.mjs SOURCE SCREENSHOT MODEL...  (each model: Mul by a tensor, then a function with one)
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { createRequire } from 'node:module';

const puppeteer = createRequire(path.join(process.cwd(), 'here.js'))('puppeteer-core');
const [source, screenshot, ...models] = process.argv.slice(2);
const types = { '.js': 'text/javascript', '.html': 'text/html', '.css': 'text/css', '.json': 'application/json' };

const server = http.createServer((request, response) => {
  const name = new URL(request.url, 'http://localhost').pathname.slice(1) || 'index.html';
  const file = path.join(source, path.basename(name));
  if (!fs.existsSync(file)) return response.writeHead(404).end();
  // A copy of Netron that is half a year old asks for an update; this one is as old as today.
  const content = name === 'index.html' ? fs.readFileSync(file, 'utf8').replace(/(name="date" content=")[^"]*/, `$1${new Date().toISOString()}`)
    : fs.readFileSync(file);
  response.writeHead(200, { 'Content-Type': types[path.extname(name)] ?? 'application/octet-stream' }).end(content);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

const browser = await puppeteer.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });

// Clicks on what the graph shows with this text until the page is as wanted: the graph moves at first.
async function click(page, text, isDone) {
  for (let tries = 0; tries < 50 && !await page.evaluate(isDone); tries += 1) {
    for (const each of await page.$$('.node-item-type')) {
      if ((await each.evaluate((element) => element.textContent)).includes(text)) await each.click();
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

// What the sidebar says of the tensor of the node of this type: its smallest and its largest value are among it.
async function tensor(page, type) {
  await click(page, type, () => document.querySelector('.sidebar-item-value-button') !== null);
  await page.evaluate(() => document.querySelectorAll('.sidebar-item-value-button').forEach((each) => each.click()));
  await page.waitForFunction(() => document.querySelector('.sidebar').textContent.includes('Metrics'), { timeout: 10000 });
  return page.evaluate(() => document.querySelector('.sidebar').textContent.replace(/\s+/g, ' '));
}

async function look(model) {
  const page = await browser.newPage();
  page.on('pageerror', (error) => assert.fail(`${model}: ${error}`));
  await page.setViewport({ width: 1000, height: 700 });
  await page.setCookie({ name: 'consent', value: String(Date.now()), url: `http://127.0.0.1:${server.address().port}/` });
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  const input = await page.waitForSelector('#open-file-dialog');
  await page.waitForFunction(() => document.body.classList.contains('welcome') && !document.body.classList.contains('spinner'));
  await input.uploadFile(model);
  await page.waitForSelector('.node-item-type', { timeout: 30000 });
  const shown = await tensor(page, 'Mul');
  for (const value of ['+0.5', '+1199.5']) assert.ok(shown.includes(value), `${model}: ${value} is not in: ${shown}`);
  return page;
}

// The same for the tensor in the function, whose place was not read before the patches.
async function lookIntoFunction(page) {
  await page.keyboard.press('Escape');
  await click(page, '\u0192', () => [...document.querySelectorAll('.node-item-type')].some((each) => each.textContent.includes('Add')));
  const shown = await tensor(page, 'Add');
  assert.ok(shown.includes('+7'), `the function: ${shown}`);
}

try {
  for (const model of models) {
    const page = await look(model);
    if (model === models[0]) await page.screenshot({ path: screenshot });
    await lookIntoFunction(page);
    await page.close();
    console.log(`passed: ${path.basename(model)} opens, and its tensors are shown`);
  }
} finally {
  await browser.close();
  server.close();
}
