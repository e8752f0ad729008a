import { readFileSync } from 'node:fs';

/** A module of the guest: its text, and the name it goes by inside the realm. */
export interface GuestModule {
  /** Never a host path: a program can read it off a stack. */
  readonly name: string;
  readonly source: string;
}

/** The modules that a guest consists of, read once and evaluated anew in every guest. */
export class GuestModules {
  /** The module that the worker calls. */
  readonly entry: GuestModule;
  readonly #urls = new Map<string, string>();
  readonly #loaded = new Map<string, GuestModule>();

  constructor() {
    this.entry = this.#load(new URL('./guest/guest.js', import.meta.url).href);
  }

  /** The module that `specifier` means in the module of the name `referrer`. */
  resolve(specifier: string, referrer: string): GuestModule {
    return this.#load(
      specifier.startsWith('.')
        ? new URL(specifier, this.#urls.get(referrer)).href
        : import.meta.resolve(specifier),
    );
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
