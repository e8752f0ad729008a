import { readFileSync } from 'node:fs';

/** A module of the guest: its text, and the name it goes by inside the isolate. */
export interface GuestModule {
  readonly url: string;
  /** Never a host path: a program can read it off a stack. */
  readonly name: string;
  readonly source: string;
}

/** The module that the worker calls. */
export const GUEST_ENTRY = new URL('./guest/guest.js', import.meta.url).href;

/** The modules that a guest consists of, read once and evaluated anew in every guest. */
export class GuestModules {
  readonly #loaded = new Map<string, GuestModule>();

  /** The module that `specifier` means in the module at `referrer`. */
  resolve(specifier: string, referrer: string): GuestModule {
    const url = specifier.startsWith('.')
      ? new URL(specifier, referrer).href
      : import.meta.resolve(specifier);
    return this.load(url);
  }

  /** The module at a file URL. */
  load(url: string): GuestModule {
    const known = this.#loaded.get(url);
    if (known !== undefined) return known;
    const name = `carrel:${url.slice(url.lastIndexOf('/') + 1)}`;
    const module = { url, name, source: readFileSync(new URL(url), 'utf8') };
    this.#loaded.set(url, module);
    return module;
  }
}
