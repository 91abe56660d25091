// Checks the names of entries.
import { checkRule, type Rule } from './error.js';
import { decoder } from './wire.js';

const DEVICE = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9]) *(\.|$)/i;

/** Returns the name. Checks the rules N1 to N17 that concern one name. */
export function readName(raw: Uint8Array, at: number): string {
  checkRule('N1', raw.length > 0, at);
  const name = decoder.decode(raw);
  const check = (rule: Rule, isKept: boolean): void => checkRule(rule, isKept, at, name);
  check('N2', raw.length <= 1024);
  check('N14', /^[ -~]+$/.test(name) && !/[\\:*?"<>|;]/.test(name));
  check('N6', !name.startsWith('/'));
  check('N8', !name.endsWith('/'));
  const parts = name.split('/');
  check('N9', !parts.some((part) => part === '' || part === '.' || part === '..'));
  check(
    'N15',
    parts.every((part) => part.length <= 255),
  );
  check('N16', !parts.some((part) => /[. ]$/.test(part)));
  check('N17', !parts.some((part) => DEVICE.test(part)));
  return name;
}

/** Checks N10 to N12. */
export function checkNames(headers: readonly { name: string; at: number }[]): void {
  const names = new Set<string>();
  const folded = new Set<string>();
  for (const { name, at } of headers) {
    checkRule('N10', !names.has(name), at, name);
    checkRule('N11', !folded.has(name.toLowerCase()), at, name);
    names.add(name);
    folded.add(name.toLowerCase());
  }
  const found = inFolderOfName(headers.map(({ name }) => name.toLowerCase()));
  if (found !== undefined) checkRule('N12', false, headers[found]!.at, headers[found]!.name);
}

/**
 * Returns the index of the first name that has another name as a folder. A name and those in a folder of this name
 * follow each other if names are sorted with the slash before all other characters.
 */
function inFolderOfName(names: string[]): number | undefined {
  const keys = names.map((name) => name.replaceAll('/', '\x01'));
  const order = [...keys.keys()].sort((a, b) => (keys[a]! < keys[b]! ? -1 : 1));
  let found: number | undefined;
  let folder = '/'; // of the last name that is in no folder of another
  for (const index of order) {
    if (!keys[index]!.startsWith(folder)) folder = `${keys[index]}\x01`;
    else if (found === undefined || index < found) found = index;
  }
  return found;
}
