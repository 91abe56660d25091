// A process that uses a store: kept.mjs FOLDER URL OPTIONS VERB... prints what each verb gave. With KILL_AT=n it ends, as by
// kill -9, instead of its n-th operation in the file system.
import fs from 'node:fs';
import { Store } from '../../dist/store.js';

const [, , folder, url, options, ...verbs] = process.argv;
const last = Number(process.env.KILL_AT ?? Infinity);
let operations = 0;

const counted =
  (call) =>
  async (...given) => {
    if (++operations >= last) process.kill(process.pid, 'SIGKILL');
    const result = await call(...given);
    for (const name of ['read', 'write', 'writeFile', 'sync', 'close']) {
      if (typeof result?.[name] === 'function') result[name] = counted(result[name].bind(result));
    }
    return result;
  };
for (const [name, call] of Object.entries(fs.promises)) {
  if (typeof call === 'function') fs.promises[name] = counted(call);
}

const store = new Store({ folder, ...JSON.parse(options) });
for (const verb of verbs) {
  const result = await (verb === 'delete' ? store.delete(url) : store.get(url)).then(
    (kept) => (kept ? kept.href : 'deleted'),
    (error) => error.code ?? String(error),
  );
  console.log(result);
}
console.error(operations);
