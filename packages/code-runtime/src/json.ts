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

/** How deep arrays and objects may nest, the outermost counting as 1. */
export const MAX_JSON_DEPTH = 512;

const { stringify, parse } = JSON;
const { isArray } = Array;
const { isView } = ArrayBuffer;
const { isFinite: isFiniteNumber } = Number;
const { keys, getOwnPropertyDescriptor, getPrototypeOf, is } = Object;
const PlainObject = Object.prototype;
const { apply } = Reflect;
const toText = String;
const SetOfAncestors = Set;

type Method = (this: never, ...args: never[]) => unknown;
function uncurry<Result>(method: Method): (target: unknown, ...args: unknown[]) => Result {
  return (target, ...args) => apply(method as never, target, args) as Result;
}
function getterOf(prototype: object, property: string | symbol): (target: unknown) => unknown {
  // The getters asked for below are part of ECMAScript.
  return uncurry(getOwnPropertyDescriptor(prototype, property)!.get as Method);
}
const mapSize = getterOf(Map.prototype, 'size');
const setSize = getterOf(Set.prototype, 'size');
const bufferSize = getterOf(ArrayBuffer.prototype, 'byteLength');
const typedArrayTag = getterOf(getPrototypeOf(Uint8Array.prototype) as object, Symbol.toStringTag);
const mapForEach = uncurry<void>(Map.prototype.forEach);
const setForEach = uncurry<void>(Set.prototype.forEach);
const setHas = uncurry<boolean>(Set.prototype.has);
const setAdd = uncurry<void>(Set.prototype.add);
const setDelete = uncurry<void>(Set.prototype.delete);
const dateToIso = uncurry<string>(Date.prototype.toISOString);
const dateTime = uncurry<number>(Date.prototype.getTime);
const regExpText = uncurry<string>(RegExp.prototype.toString);
const wellFormed = uncurry<string>(String.prototype.toWellFormed);
const bigIntText = uncurry<string>(BigInt.prototype.toString);
const identifier = uncurry<boolean>(RegExp.prototype.test);
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
  /** Called for a value that JSON cannot say; throws, or lets the conversion stand. */
  lossy(path: Path, message: string): void;
}

/** A path as a linked list: it is only written out when something is wrong with the value. */
interface Path {
  readonly parent: Path | undefined;
  readonly key: string | number;
}

function pathText(path: Path | undefined): string {
  if (path === undefined) return '$';
  const { parent, key } = path;
  if (typeof key === 'number') return `${pathText(parent)}[${key}]`;
  if (parent === undefined && key === '$') return '$';
  return identifier(IDENTIFIER, key)
    ? `${pathText(parent)}.${key}`
    : `${pathText(parent)}[${stringify(key)}]`;
}

class Encoder {
  readonly #policy: Policy;
  readonly #ancestors = new SetOfAncestors<object>();
  #depth = 0;

  constructor(policy: Policy) {
    this.#policy = policy;
  }

  /** The JSON text of `value`, or `undefined` when there is nothing to say. */
  encode(value: unknown, path: Path): string | undefined {
    switch (typeof value) {
      case 'string':
        return stringify(wellFormed(value));
      case 'boolean':
        return value ? 'true' : 'false';
      case 'number':
        return this.#number(value, path);
      case 'undefined':
        if (!this.#policy.relaxed) this.#policy.lossy(path, 'undefined is not JSON');
        return undefined;
      case 'bigint':
        this.#policy.lossy(path, 'a BigInt is not JSON; it became its decimal text');
        return `"${bigIntText(value)}"`;
      case 'symbol':
      case 'function':
        this.#policy.lossy(path, `a ${typeof value} is not JSON; it was left out`);
        return undefined;
      default:
        return value === null ? 'null' : this.#object(value as object, path);
    }
  }

  #number(value: number, path: Path): string {
    if (isFiniteNumber(value)) {
      if (!this.#policy.relaxed && is(value, -0)) this.#policy.lossy(path, '-0 is not JSON');
      return toText(value === 0 ? 0 : value);
    }
    this.#policy.lossy(path, `${toText(value)} is not JSON; it became null`);
    return 'null';
  }

  #object(value: object, path: Path): string | undefined {
    if (setHas(this.#ancestors, value)) {
      this.#policy.lossy(path, 'a cycle is not JSON; it became "[circular]"');
      return '"[circular]"';
    }
    if (this.#depth >= MAX_JSON_DEPTH) {
      throw new JsonConversionError(pathText(path), `nested deeper than ${MAX_JSON_DEPTH} levels`);
    }
    this.#depth += 1;
    setAdd(this.#ancestors, value);
    try {
      return this.#composite(value, path);
    } finally {
      setDelete(this.#ancestors, value);
      this.#depth -= 1;
    }
  }

  #composite(value: object, path: Path): string | undefined {
    if (this.#policy.relaxed) {
      if (passes(dateTime, value)) {
        return isFiniteNumber(dateTime(value)) ? `"${dateToIso(value)}"` : this.#number(NaN, path);
      }
      const { toJSON } = value as { toJSON?: unknown };
      if (typeof toJSON === 'function') {
        return this.encode(apply(toJSON as Method as never, value, [lastKey(path)]), path);
      }
    }
    if (isArray(value)) return this.#items(value.length, (index) => value[index], path);
    const special = this.#special(value, path);
    if (special !== false) return special;
    if (!this.#policy.relaxed) {
      const prototype = getPrototypeOf(value) as unknown;
      if (prototype !== null && prototype !== PlainObject) {
        this.#policy.lossy(path, 'only plain objects are JSON');
      }
    }
    return this.#members(value, path);
  }

  /** The forms of built-in classes; `false` when `value` is of none of them. */
  #special(value: object, path: Path): string | undefined | false {
    const policy = this.#policy;
    const typedArray = typedArrayTag(value);
    if (typeof typedArray === 'string' && isView(value)) {
      policy.lossy(path, `a ${typedArray} is not JSON; it became an array`);
      const items = value as unknown as {
        readonly [index: number]: unknown;
        readonly length: number;
      };
      return this.#items(items.length, (index) => items[index], path);
    }
    if (passes(mapSize, value)) return this.#map(value, path);
    if (passes(setSize, value)) {
      policy.lossy(path, 'a Set is not JSON; it became an array');
      const items: unknown[] = [];
      setForEach(value, (item: unknown) => (items[items.length] = item));
      return this.#items(items.length, (index) => items[index], path);
    }
    if (value instanceof ErrorClass) {
      policy.lossy(path, 'an Error is not JSON; it became { name, message }');
      return this.#members({ __proto__: null, name: value.name, message: value.message }, path);
    }
    if (value instanceof RegExpClass) {
      policy.lossy(path, 'a RegExp is not JSON; it became its text');
      return stringify(regExpText(value));
    }
    if (value instanceof PromiseClass) {
      policy.lossy(path, 'a Promise is not JSON; it was left out (is an `await` missing?)');
      return undefined;
    }
    if (passes(bufferSize, value) || value instanceof DataViewClass) {
      policy.lossy(path, 'a buffer is not JSON; it became an array of bytes');
      const bytes =
        value instanceof DataViewClass
          ? new BytesClass(value.buffer, value.byteOffset, value.byteLength)
          : new BytesClass(value as ArrayBuffer);
      return this.#items(bytes.length, (index) => bytes[index], path);
    }
    return false;
  }

  #map(value: object, path: Path): string {
    const entries: [unknown, unknown][] = [];
    let textKeys = true;
    mapForEach(value, (item: unknown, key: unknown) => {
      textKeys &&= typeof key === 'string';
      entries[entries.length] = [key, item];
    });
    if (!textKeys) {
      this.#policy.lossy(path, 'a Map is not JSON; it became an array of pairs');
      return this.#items(entries.length, (index) => entries[index], path);
    }
    this.#policy.lossy(path, 'a Map is not JSON; it became an object');
    let text = '';
    for (let index = 0; index < entries.length; index += 1) {
      const [key, item] = entries[index] as [string, unknown];
      text = this.#member(text, key, item, path);
    }
    return `{${text}}`;
  }

  #items(length: number, at: (index: number) => unknown, path: Path): string {
    let text = '';
    for (let index = 0; index < length; index += 1) {
      // What has no JSON form is null inside an array, so that the others keep their place.
      const item = this.encode(at(index), { parent: path, key: index }) ?? 'null';
      text += index === 0 ? item : `,${item}`;
    }
    return `[${text}]`;
  }

  #members(value: object, path: Path): string {
    const names = keys(value);
    let text = '';
    for (let index = 0; index < names.length; index += 1) {
      const name = names[index] as string;
      text = this.#member(text, name, (value as Record<string, unknown>)[name], path);
    }
    return `{${text}}`;
  }

  #member(text: string, name: string, value: unknown, path: Path): string {
    const encoded = this.encode(value, { parent: path, key: name });
    if (encoded === undefined) return text;
    return `${text}${text === '' ? '' : ','}${stringify(wellFormed(name))}:${encoded}`;
  }
}

function lastKey(path: Path): string {
  return path.parent === undefined ? '' : toText(path.key);
}

const ROOT: Path = { parent: undefined, key: '$' };

function rejecting(path: Path, message: string): never {
  // The half-sentence on what a conversion would have made of it is not true here.
  const cut = message.split(';')[0] as string;
  throw new JsonConversionError(pathText(path), cut);
}

/**
 * The JSON text of a call's argument. As `JSON.stringify`: `undefined` members vanish, `Date` and
 * `toJSON` are honoured.
 *
 * @returns the text, or `undefined` for `undefined`
 * @throws JsonConversionError naming the path of what JSON cannot say
 */
export function encodeArgument(value: unknown): string | undefined {
  return new Encoder({ relaxed: true, lossy: rejecting }).encode(value, ROOT);
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
  return new Encoder({
    relaxed: true,
    lossy: (path, message) => warn(pathText(path), message),
  }).encode(value, ROOT);
}

/**
 * The JSON text of a fact that must come back exactly as it was.
 *
 * @throws JsonConversionError naming the path of what JSON cannot say, `undefined` included
 */
export function encodeLossless(value: unknown): string {
  // `undefined` throws under this policy, so there is always a text.
  return new Encoder({ relaxed: false, lossy: rejecting }).encode(value, ROOT) as string;
}

/**
 * Reads JSON text. `__proto__` is an ordinary key.
 *
 * @throws SyntaxError for text that is not JSON
 */
export function parseJson(text: string): JsonValue {
  return parse(text) as JsonValue;
}
