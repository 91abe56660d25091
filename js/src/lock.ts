// A lock among processes of Node, which has no Web Locks for them: files in a folder.
import { anyOf, pause } from './abort.js';
import { failure } from './error.js';
import { randomName } from './place.js';
import type { LockOptions } from './place.js';
import { builtin } from './node_file.js';

const BEAT = 3_000; // ms after which a holder says again that it runs
const LEASE = 30_000; // ms after which one that did not is taken to have ended
const LONGEST_PAUSE = 250; // ms
const TAKEN = 'another process took over the download, because this one was stopped too long; call get again';
const LOCK = /^onnxar-([0-9a-f]{32})-([0-9a-f]{8}-\d+)-[0-9a-f]{32}\.lock$/;

interface NodeFiles {
  readdir(path: string): Promise<string[]>;
  readFile(path: string, encoding: 'utf8'): Promise<string>;
  readlink(path: string): Promise<string>;
  rm(path: string, options: object): Promise<void>;
  stat(path: string): Promise<{ mtimeMs: number }>;
  utimes(path: string, atime: number, mtime: number): Promise<void>;
  writeFile(path: string, text: string, options: object): Promise<void>;
}
interface NodeProcess {
  pid: number;
  kill(pid: number, signal: 0): void;
}

/**
 * Each process that wants a lock makes a file of its own and then looks for others: it has the lock if there are none;
 * otherwise it deletes its file and tries again later. Each process looks after it has made its file, so two never have the
 * lock. No name is used twice, so any process can delete the file of a process that was killed.
 */
export class FolderLock {
  readonly #files = (builtin('fs') as { promises: NodeFiles }).promises;
  readonly #process = builtin('process') as NodeProcess;
  readonly #root: string;
  #self: Promise<string> | undefined;

  /** Takes a folder, which must exist when a lock is taken. */
  constructor(root: string) {
    this.#root = root;
  }

  /** Calls `work` with the lock. Its signal is aborted if the lock is lost, because this process was stopped for too long. */
  async locked<T>(
    name: string,
    work: (signal: AbortSignal | undefined) => Promise<T>,
    { signal, isTry = false }: LockOptions,
  ): Promise<T | undefined> {
    const own = await this.#take(hashed(name), isTry, signal);
    if (own === undefined) return undefined;
    const lost = new AbortController();
    const beat = (): void => void this.#touch(own).then((is) => is || lost.abort(failure('io.changed', TAKEN)));
    const timer = setInterval(beat, BEAT) as unknown as { unref(): void } & number;
    timer.unref();
    try {
      return await work(anyOf(signal, lost.signal));
    } finally {
      clearInterval(timer);
      await this.#delete(own);
    }
  }

  /** Returns an id of the computer and the thread. */
  self(): Promise<string> {
    return (this.#self ??= this.#hostName().then((host) => `${host}-${this.#thread()}`));
  }

  /** True if a thread, identified by what `self` returned in it, is known to have ended. */
  async hasEnded(other: string | undefined): Promise<boolean> {
    const self = await this.self();
    const [host, thread] = (other ?? '').split('-');
    return other === self || (self.startsWith(`${host}-`) && !(await this.#runs(Number(thread))));
  }

  /** Returns the file of the lock; undefined if others hold it and `isTry` is set. */
  async #take(key: string, isTry: boolean, signal: AbortSignal | undefined): Promise<string | undefined> {
    const self = await this.self();
    for (let ms = 20; ; ms = Math.min(2 * ms, LONGEST_PAUSE)) {
      signal?.throwIfAborted();
      if (!(await this.#isHeld(key))) {
        const own = `onnxar-${key}-${self}-${randomName()}.lock`;
        await this.#files.writeFile(this.#at(own), '', { flag: 'wx' });
        if ((await this.#touch(own)) && !(await this.#isHeld(key, own))) return own;
        await this.#delete(own);
      }
      if (isTry) return undefined;
      await pause(ms * (0.5 + Math.random()), signal);
    }
  }

  /** True if there is a file for the lock besides `own`. Deletes the files of processes that ended. */
  async #isHeld(key: string, own?: string): Promise<boolean> {
    let isHeld = false;
    for (const name of await this.#files.readdir(this.#root)) {
      const [, other, holder] = LOCK.exec(name) ?? [];
      if (other === undefined || name === own) continue;
      if (await this.#isLeft(name, holder!)) await this.#delete(name);
      else isHeld ||= other === key;
    }
    return isHeld;
  }

  async #isLeft(name: string, holder: string): Promise<boolean> {
    if (holder !== (await this.self()) && (await this.hasEnded(holder))) return true;
    const stats = await this.#files.stat(this.#at(name)).catch(() => undefined);
    return !stats || Math.abs(Date.now() - stats.mtimeMs) > LEASE;
  }

  /** True if the thread runs. Linux accepts thread ids as process ids. */
  async #runs(thread: number): Promise<boolean> {
    try {
      this.#process.kill(thread, 0);
    } catch (error) {
      return (error as { code?: string }).code !== 'ESRCH';
    }
    const state = await this.#files.readFile(`/proc/${thread}/stat`, 'utf8').catch(() => '');
    return !/\) [ZX] /.test(state); // killed, and its parent did not notice
  }

  /** Updates the time of the file. Returns false if the file is gone. */
  async #touch(own: string): Promise<boolean> {
    const now = Date.now() / 1000;
    const { code } = ((await this.#files.utimes(this.#at(own), now, now).catch((error: unknown) => error)) ?? {}) as {
      code?: string;
    };
    return code !== 'ENOENT';
  }

  async #delete(name: string): Promise<void> {
    await this.#files.rm(this.#at(name), { force: true }).catch(() => undefined); // it ends by its age
  }

  /** Returns the id of this thread in Linux, so that a lock ends with a worker; elsewhere that of the process. */
  #thread(): number {
    try {
      const { readlinkSync } = builtin('fs') as { readlinkSync(path: string): string };
      return Number(/\d+$/.exec(readlinkSync('/proc/thread-self'))![0]);
    } catch {
      return this.#process.pid;
    }
  }

  /** Returns an id of the computer or container, within which process ids are unique. */
  async #hostName(): Promise<string> {
    const { hostname } = builtin('os') as { hostname(): string };
    const space = await this.#files.readlink('/proc/self/ns/pid').catch(() => '');
    return hashed(`${hostname()} ${space}`).slice(0, 8);
  }

  #at(name: string): string {
    return (builtin('path') as { join(...parts: string[]): string }).join(this.#root, name);
  }
}

function hashed(text: string): string {
  interface Hash {
    update(text: string): Hash;
    digest(form: 'hex'): string;
  }
  const { createHash } = builtin('crypto') as { createHash(name: string): Hash };
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
