// The repository that the package is in. The tests may run from a copy of js/ below build/.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export function root() {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'spec/vectors/manifest.json'))) {
    if (folder === dirname(folder)) throw new Error('not in the repository: spec/vectors is missing');
    folder = dirname(folder);
  }
  return folder;
}
