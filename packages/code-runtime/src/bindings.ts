import type { JsonValue } from './json.ts';

/** What a host function is told about the call it answers. */
export interface CodeCallContext {
  /** The call's id, in program order: `1`, `2`, … within the run. */
  readonly id: string;
  /** Aborted when the run ends for any reason, also when it ends well with this call still open. */
  readonly signal: AbortSignal;
}

/**
 * A host function that a program can call.
 *
 * It receives the positional arguments as plain JSON values (copied once, owned by the function)
 * and answers with a JSON value, or `undefined` for none. A rejection becomes a rejected promise
 * in the program, carrying the error's `message` and, when it is a string, its `code`; nothing
 * else of the error crosses.
 */
export type CodeBindingFunction = (
  args: readonly JsonValue[],
  context: CodeCallContext,
) => Promise<JsonValue | undefined>;

/** One global object of the program whose members are host functions. */
export interface CodeBindingNamespace {
  /** The global's name; an identifier that is not a built-in of the program. */
  readonly global: string;
  /** Members by their exact name, called as `global.name(…)` or `global["na-me"](…)`. */
  readonly functions: Readonly<Record<string, CodeBindingFunction>>;
  /** The class of errors that rejected calls of this namespace throw; without it, `Error`. */
  readonly errorClass?: {
    /** The class's name, itself a global of the program. */
    readonly name: string;
    /** The property of an error that holds the name of the member that failed. */
    readonly memberProperty: string;
  };
}

const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

/** Names a binding may not take: the program's own globals, and words that no variable can have. */
const RESERVED = new Set(
  [
    'Array ArrayBuffer AsyncFunction BigInt Boolean DataView Date Error Function Infinity Intl Iterator JSON Map Math NaN',
    'Number Object Promise Proxy Reflect RegExp Set String Symbol WeakMap WeakSet console crypto globalThis performance',
    'URL URLSearchParams TextEncoder TextDecoder atob btoa structuredClone queueMicrotask setTimeout clearTimeout',
    'arguments await break case catch class const continue debugger default delete do else enum eval export extends',
    'false finally for function if implements import in instanceof interface let new null package private protected',
    'public return static super switch this throw true try typeof undefined var void while with yield',
  ].flatMap((line) => line.split(' ')),
);

function assertGlobalName(name: string, what: string, taken: Set<string>): void {
  if (!IDENTIFIER.test(name) || RESERVED.has(name)) {
    throw new TypeError(
      `Expected ${what} to be an identifier that is free in a program, got \`${name}\``,
    );
  }
  if (taken.has(name)) throw new TypeError(`Two bindings want the global \`${name}\``);
  taken.add(name);
}

/**
 * Checks the bindings of a run.
 *
 * @throws TypeError for a name that is no free identifier, a name wanted twice, or a member that is not a function
 */
export function assertBindings(bindings: readonly CodeBindingNamespace[]): void {
  if (!Array.isArray(bindings)) {
    throw new TypeError(`Expected \`bindings\` to be an array, got ${typeof bindings}`);
  }
  const taken = new Set<string>();
  for (const { global, functions, errorClass } of bindings) {
    assertGlobalName(global, 'a binding name', taken);
    if (errorClass) assertGlobalName(errorClass.name, 'an error class name', taken);
    for (const [name, member] of Object.entries(functions)) {
      if (typeof member !== 'function') {
        throw new TypeError(
          `Expected binding \`${global}.${name}\` to be a function, got ${typeof member}`,
        );
      }
    }
  }
}
