import { readFileSync } from 'node:fs';

/** A module of the guest: its text, and the name it goes by inside the realm. */
export interface GuestModule {
  /** Never a host path: a program can read it off a stack. */
  readonly name: string;
  readonly source: string;
}

/** The one module of the guest that the host has as well. */
const CODEC = '@carrel/code-runtime/json';

/** The modules that a guest consists of, read once and evaluated anew in every guest. */
export class GuestModules {
  /** The module that the worker calls. */
  readonly entry: GuestModule;
  readonly #urls = new Map<string, string>();
  readonly #loaded = new Map<string, GuestModule>();

  constructor() {
    this.entry = this.#load(new URL('./guest/guest.js', import.meta.url).href);
  }

  /**
   * The module that `specifier` means in the module of the name `referrer`.
   *
   * @throws Error for whatever is not one of the guest's own modules
   */
  resolve(specifier: string, referrer: string): GuestModule {
    const from = this.#urls.get(referrer);
    if (from !== undefined && /^\.\/[a-z-]+\.js$/.test(specifier)) {
      return this.#load(new URL(specifier, from).href);
    }
    if (from !== undefined && specifier === CODEC) return this.#load(import.meta.resolve(CODEC));
    throw new Error('Modules are not available in a program');
  }

  /** The source of a module that was resolved before. */
  sourceOf(name: string): string {
    const module = this.#loaded.get(name);
    if (module === undefined) throw new Error(`The guest has no module ${name}`);
    return module.source;
  }

  #load(url: string): GuestModule {
    const name = `carrel:${url.slice(url.lastIndexOf('/') + 1)}`;
    const known = this.#loaded.get(name);
    if (known !== undefined) return known;
    const module = { name, source: readFileSync(new URL(url), 'utf8') };
    this.#urls.set(name, url);
    this.#loaded.set(name, module);
    return module;
  }
}
