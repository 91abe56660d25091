// Removes what an earlier build left: files that no source makes any more would be packed.
import { rm } from 'node:fs/promises';

await rm(new URL('../dist', import.meta.url), { recursive: true, force: true });
