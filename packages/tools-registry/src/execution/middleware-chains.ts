import type { ToolMiddleware } from './tool-execution.ts';

type Listeners = {
  readonly [Name in keyof ToolMiddleware]: { readonly listener: ToolMiddleware[Name] }[];
};

/** The listeners of the three chains that every call passes. */
export class MiddlewareChains {
  readonly #listeners: Listeners = {
    'tools/pre-execute': [],
    'tools/execute': [],
    'tools/post-execute': [],
  };

  /** The listeners of one chain as they are now, outermost first. */
  listeners<Name extends keyof ToolMiddleware>(name: Name): readonly ToolMiddleware[Name][] {
    return this.#listeners[name].map(({ listener }) => listener);
  }

  /**
   * Adds a listener inside those that are there, or around them with `prepend`.
   *
   * @returns its undo, which does nothing the second time
   * @throws TypeError for a chain that does not exist or a listener that is no function
   */
  use<Name extends keyof ToolMiddleware>(
    name: Name,
    listener: ToolMiddleware[Name],
    { prepend = false }: { readonly prepend?: boolean } = {},
  ): () => void {
    if (!Object.hasOwn(this.#listeners, name)) {
      const known = Object.keys(this.#listeners).join(', ');
      throw new TypeError(`Expected the chain to be one of ${known}, got ${name}`);
    }
    if (typeof listener !== 'function') {
      throw new TypeError(
        `Expected the listener of \`${name}\` to be a function, got ${typeof listener}`,
      );
    }
    const listeners = this.#listeners[name];
    // An entry of its own, so that the undo of a listener that was added twice finds the right one.
    const added = { listener };
    if (prepend) listeners.unshift(added);
    else listeners.push(added);
    return () => {
      const index = listeners.indexOf(added);
      if (index !== -1) listeners.splice(index, 1);
    };
  }
}
