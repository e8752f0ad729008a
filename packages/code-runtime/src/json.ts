// The one JSON codec: the host, the session log and the guest run this same file. Inside a guest
// the program may have replaced any global or prototype method, so everything is taken once, when
// the module is evaluated, and nothing here is looked up on a prototype afterwards.

/** What JSON can say. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** A value has no JSON form under the rule that was asked for. */
export class JsonConversionError extends Error {
  override readonly name = 'JsonConversionError';
  /** Where, as `$.filter.since` or `$[3]`. */
  readonly path: string;

  constructor(path: string, problem: string) {
    super(`${path}: ${problem}`);
    this.path = path;
  }
}

/** Told of each value that was converted: where it was, and what became of it. */
export type JsonWarning = (path: string, message: string) => void;

/** How deep arrays and objects of a value may nest, the outermost counting as 1. */
export const MAX_JSON_DEPTH = 512;

/** Levels that may stand around a value in what holds it: an event, a request. */
const ENVELOPE_DEPTH = 32;

const { stringify, parse } = JSON;
const { isArray } = Array;
const { isView } = ArrayBuffer;
const { isFinite: isFiniteNumber } = Number;
const { keys, getOwnPropertyDescriptor, getPrototypeOf, is } = Object;
const PlainObject = Object.prototype;
const { apply } = Reflect;
const toText = String;

type Method = (this: never, ...args: never[]) => unknown;
const NOTHING: readonly never[] = [];
function uncurry<Result>(method: Method): (target: unknown) => Result {
  return (target) => apply<unknown, readonly never[], Result>(method as never, target, NOTHING);
}
function getterOf(prototype: object, property: string | symbol): (target: unknown) => unknown {
  // The getters asked for below are part of ECMAScript.
  return uncurry(getOwnPropertyDescriptor(prototype, property)!.get as Method);
}
const mapSize = getterOf(Map.prototype, 'size');
const setSize = getterOf(Set.prototype, 'size');
const bufferSize = getterOf(ArrayBuffer.prototype, 'byteLength');
const mapForEach = Map.prototype.forEach as Method;
const setForEach = Set.prototype.forEach as Method;
const dateToIso = uncurry<string>(Date.prototype.toISOString);
const dateTime = uncurry<number>(Date.prototype.getTime);
const regExpText = uncurry<string>(RegExp.prototype.toString);
const wellFormed = uncurry<string>(String.prototype.toWellFormed);
const bigIntText = uncurry<string>(BigInt.prototype.toString);
const test = RegExp.prototype.test as Method;
const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;
const PromiseClass = Promise;
const ErrorClass = Error;
const RegExpClass = RegExp;
const DataViewClass = DataView;
const BytesClass = Uint8Array;

function passes(check: (value: unknown) => unknown, value: unknown): boolean {
  try {
    check(value);
    return true;
  } catch {
    return false; // The check throws exactly when `value` is of another class.
  }
}

/** One rule for what JSON cannot say. */
interface Policy {
  /** Whether `undefined` members vanish and `toJSON` is asked, as `JSON.stringify` does. */
  readonly relaxed: boolean;
  readonly maxDepth: number;
  /** Called for a value that JSON cannot say; throws, or lets the conversion stand. */
  lossy(path: string, message: string): void;
}

class Encoder {
  readonly #policy: Policy;
  /** The objects that the walk is inside of, the outermost first. */
  readonly #ancestors: object[] = [];
  /** At depth `n`, from 1: which member of the `n`th of them is looked at. */
  readonly #keys: (string | number | undefined)[] = [];
  #depth = 0;
  /** Quoted keys: a large value says the same few again and again. */
  readonly #quoted = { __proto__: null } as unknown as Record<string, string>;

  constructor(policy: Policy) {
    this.#policy = policy;
  }

  /**
   * The JSON text of `value`, or `undefined` when there is nothing to say.
   *
   * @param asked - whether `value` is what a `toJSON` answered, and is not asked again
   */
  encode(value: unknown, asked = false): string | undefined {
    switch (typeof value) {
      case 'string':
        return stringify(wellFormed(value));
      case 'boolean':
        return value ? 'true' : 'false';
      case 'number':
        return this.#number(value);
      case 'undefined':
        if (!this.#policy.relaxed) this.#lossy('undefined is not JSON');
        return undefined;
      case 'bigint':
        this.#lossy('a BigInt is not JSON; it became its decimal text');
        return `"${bigIntText(value)}"`;
      case 'symbol':
      case 'function':
        this.#lossy(`a ${typeof value} is not JSON; it was left out`);
        return undefined;
      default:
        return value === null ? 'null' : this.#object(value as object, asked);
    }
  }

  #number(value: number): string {
    if (isFiniteNumber(value)) {
      if (value === 0 && !this.#policy.relaxed && is(value, -0)) this.#lossy('-0 is not JSON');
      return toText(value === 0 ? 0 : value);
    }
    this.#lossy(`${toText(value)} is not JSON; it became null`);
    return 'null';
  }

  #object(value: object, asked: boolean): string | undefined {
    const depth = this.#depth;
    for (let index = 0; index < depth; index += 1) {
      if (this.#ancestors[index] === value) {
        this.#lossy('a cycle is not JSON; it became "[circular]"');
        return '"[circular]"';
      }
    }
    const { maxDepth } = this.#policy;
    if (depth >= maxDepth) {
      throw new JsonConversionError(this.#path(), `nested deeper than ${maxDepth} levels`);
    }
    this.#ancestors[depth] = value;
    this.#depth = depth + 1;
    // No member of it is looked at yet: a path that ends here is its own.
    this.#keys[depth + 1] = undefined;
    const encoded = this.#composite(value, asked);
    this.#depth = depth;
    return encoded;
  }

  #composite(value: object, asked: boolean): string | undefined {
    const prototype = getPrototypeOf(value) as unknown;
    const plain = prototype === PlainObject || prototype === null;
    if (this.#policy.relaxed && !asked) {
      const { toJSON } = value as { toJSON?: unknown };
      if (typeof toJSON === 'function') {
        if (!plain && passes(dateTime, value)) return this.#date(value);
        // What it answers stands in the place of `value` itself.
        this.#depth -= 1;
        const key = this.#depth === 0 ? '' : toText(this.#keys[this.#depth]);
        return this.encode(apply(toJSON as never, value, [key]), true);
      }
    }
    if (plain) return this.#members(value);
    if (isArray(value)) return this.#items(value.length, value);
    const special = this.#special(value);
    if (special !== false) return special;
    if (!this.#policy.relaxed) this.#lossy('only plain objects are JSON');
    return this.#members(value);
  }

  #date(value: object): string {
    return isFiniteNumber(dateTime(value)) ? `"${dateToIso(value)}"` : this.#number(NaN);
  }

  /** The forms of built-in classes; `false` when `value` is of none of them. */
  #special(value: object): string | undefined | false {
    if (isView(value) && !(value instanceof DataViewClass)) {
      this.#lossy('a typed array is not JSON; it became an array');
      const items = value as unknown as ArrayLike<unknown>;
      return this.#items(items.length, items);
    }
    if (passes(mapSize, value)) return this.#map(value);
    if (passes(setSize, value)) {
      this.#lossy('a Set is not JSON; it became an array');
      const items: unknown[] = [];
      apply(setForEach as never, value, [(item: unknown) => (items[items.length] = item)]);
      return this.#items(items.length, items);
    }
    if (value instanceof ErrorClass) {
      this.#lossy('an Error is not JSON; it became { name, message }');
      return this.#members({ __proto__: null, name: value.name, message: value.message });
    }
    if (value instanceof RegExpClass) {
      this.#lossy('a RegExp is not JSON; it became its text');
      return stringify(regExpText(value));
    }
    if (value instanceof PromiseClass) {
      this.#lossy('a Promise is not JSON; it was left out (is an `await` missing?)');
      return undefined;
    }
    if (isView(value) || passes(bufferSize, value)) {
      this.#lossy('a buffer is not JSON; it became an array of bytes');
      const bytes = isView(value)
        ? new BytesClass(value.buffer, value.byteOffset, value.byteLength)
        : new BytesClass(value as ArrayBuffer);
      return this.#items(bytes.length, bytes);
    }
    return false;
  }

  #map(value: object): string {
    const entries: [unknown, unknown][] = [];
    let textKeys = true;
    const collect = (item: unknown, key: unknown): void => {
      textKeys &&= typeof key === 'string';
      entries[entries.length] = [key, item];
    };
    apply(mapForEach as never, value, [collect]);
    if (!textKeys) {
      this.#lossy('a Map is not JSON; it became an array of pairs');
      return this.#items(entries.length, entries);
    }
    this.#lossy('a Map is not JSON; it became an object');
    let encoded = '';
    for (let index = 0; index < entries.length; index += 1) {
      const [key, item] = entries[index] as [string, unknown];
      encoded = this.#member(encoded, key, item);
    }
    return `{${encoded}}`;
  }

  #items(length: number, items: ArrayLike<unknown>): string {
    let encoded = '';
    for (let index = 0; index < length; index += 1) {
      this.#keys[this.#depth] = index;
      // What has no JSON form is null inside an array, so that the others keep their place.
      const item = this.encode(items[index]) ?? 'null';
      encoded += index === 0 ? item : `,${item}`;
    }
    return `[${encoded}]`;
  }

  #members(value: object): string {
    const names = keys(value);
    let encoded = '';
    for (let index = 0; index < names.length; index += 1) {
      const name = names[index] as string;
      encoded = this.#member(encoded, name, (value as Record<string, unknown>)[name]);
    }
    return `{${encoded}}`;
  }

  #member(before: string, name: string, value: unknown): string {
    this.#keys[this.#depth] = name;
    const encoded = this.encode(value);
    if (encoded === undefined) return before;
    const key = (this.#quoted[name] ??= stringify(wellFormed(name)));
    return before === '' ? `${key}:${encoded}` : `${before},${key}:${encoded}`;
  }

  #lossy(message: string): void {
    this.#policy.lossy(this.#path(), message);
  }

  #path(): string {
    let path = '$';
    for (let depth = 1; depth <= this.#depth; depth += 1) {
      const key = this.#keys[depth];
      if (key !== undefined) path += keyText(key);
    }
    return path;
  }
}

function keyText(key: string | number): string {
  if (typeof key === 'number') return `[${key}]`;
  return apply(test as never, IDENTIFIER, [key]) === true ? `.${key}` : `[${stringify(key)}]`;
}

function rejecting(path: string, message: string): never {
  // The half-sentence on what a conversion would have made of it is not true here.
  const cut = message.split(';')[0] as string;
  throw new JsonConversionError(path, cut);
}

/**
 * The JSON text of a call's argument. As `JSON.stringify`: `undefined` members vanish, `Date` and
 * `toJSON` are honoured.
 *
 * @returns the text, or `undefined` for `undefined`
 * @throws JsonConversionError naming the path of what JSON cannot say
 */
export function encodeArgument(value: unknown): string | undefined {
  return new Encoder({ relaxed: true, maxDepth: MAX_JSON_DEPTH, lossy: rejecting }).encode(value);
}

/**
 * The JSON text of a returned value: whatever can be converted is, so that a finished run is not
 * lost over one member.
 *
 * @param warn - told of each conversion that loses something
 * @returns the text, or `undefined` for a value that has no JSON form at all
 * @throws JsonConversionError when the value nests too deep; whatever a getter, `toJSON` or Proxy throws
 */
export function encodeOutput(value: unknown, warn: JsonWarning): string | undefined {
  return new Encoder({ relaxed: true, maxDepth: MAX_JSON_DEPTH, lossy: warn }).encode(value);
}

/**
 * The JSON text of a fact that must come back exactly as it was. Strings are made well-formed: a
 * lone surrogate becomes U+FFFD.
 *
 * @param maxDepth - levels of nesting; by default those of a value and of what may stand around it
 * @throws JsonConversionError naming the path of what JSON cannot say, `undefined` included
 */
export function encodeLossless(
  value: unknown,
  maxDepth: number = MAX_JSON_DEPTH + ENVELOPE_DEPTH,
): string {
  // `undefined` throws under this policy, so there is always a text.
  return new Encoder({ relaxed: false, maxDepth, lossy: rejecting }).encode(value) as string;
}

/**
 * Reads JSON text. `__proto__` is an ordinary key.
 *
 * @throws SyntaxError for text that is not JSON
 */
export function parseJson(text: string): JsonValue {
  return parse(text) as JsonValue;
}
