import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  encodeArgument,
  encodeLossless,
  encodeOutput,
  JsonConversionError,
  MAX_JSON_DEPTH,
  parseJson,
} from './json.ts';

function output(value: unknown): { readonly value: unknown; readonly warnings: readonly string[] } {
  const warnings: string[] = [];
  const text = encodeOutput(value, (path, message) => warnings.push(`${path}: ${message}`));
  return { value: text === undefined ? undefined : JSON.parse(text), warnings };
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

describe('every encoder', () => {
  it('says of a JSON value exactly what JSON.stringify says', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (drawn) => {
        const value: unknown = JSON.parse(JSON.stringify(drawn));
        const expected = JSON.stringify(value);
        expect(encodeArgument(value)).toBe(expected);
        expect(encodeOutput(value, () => expect.unreachable())).toBe(expected);
        expect(encodeLossless(value)).toBe(expected);
      }),
    );
  });

  it('treats `__proto__` as a key like any other', () => {
    const value = JSON.parse('{"__proto__":{"a":1},"b":2}') as object;
    const text = encodeLossless(value);
    expect(text).toBe('{"__proto__":{"a":1},"b":2}');
    expect(Object.keys(parseJson(text) as object)).toEqual(['__proto__', 'b']);
    expect({}).not.toHaveProperty('a');
  });

  it('makes strings and keys well-formed', () => {
    expect(encodeArgument({ 'k\ud800': 'v\udc00' })).toBe('{"k\ufffd":"v\ufffd"}');
  });

  it(`takes ${MAX_JSON_DEPTH} levels and refuses one more by its path`, () => {
    expect(encodeArgument(nested(MAX_JSON_DEPTH))).toHaveLength(2 * MAX_JSON_DEPTH + 1);
    expect(() => encodeArgument(nested(MAX_JSON_DEPTH + 1))).toThrow(
      /^\$(\[0\]){512}: nested deeper/,
    );
    expect(() => encodeOutput(nested(MAX_JSON_DEPTH + 1), () => {})).toThrow(JsonConversionError);
  });
});

describe('encodeArgument', () => {
  it('drops undefined members, keeps places in arrays, and honours Date and toJSON', () => {
    const value = {
      gone: undefined,
      list: [undefined, 1],
      date: new Date(0),
      custom: { toJSON: (key: string) => `for ${key}` },
    };
    expect(encodeArgument(value)).toBe(JSON.stringify(value));
  });

  it('asks a toJSON once, as JSON.stringify does', () => {
    const again = { toJSON: () => ({ toJSON: () => 1, a: 2 }) };
    expect(encodeArgument(JSON.parse('{}'))).toBe('{}');
    expect(encodeArgument({ again: { toJSON: () => ({ a: 2 }) } })).toBe('{"again":{"a":2}}');
    expect(() => encodeArgument(again)).toThrow('$.toJSON: a function is not JSON');
  });

  it.each([
    [{ filter: { since: 10n } }, '$.filter.since: a BigInt is not JSON'],
    [[1, { 'not-a-name': Number.NaN }], '$[1]["not-a-name"]: NaN is not JSON'],
    [{ a: { b: () => 1 } }, '$.a.b: a function is not JSON'],
    [Symbol('s'), '$: a symbol is not JSON'],
    [{ m: new Map() }, '$.m: a Map is not JSON'],
    [[[new Set()]], '$[0][0]: a Set is not JSON'],
    [{ t: new Uint8Array(1) }, '$.t: a typed array is not JSON'],
    [{ e: new Error('x') }, '$.e: an Error is not JSON'],
    [{ p: Promise.resolve() }, '$.p: a Promise is not JSON'],
    [{ first: { leaf: 1 }, next: Number.POSITIVE_INFINITY }, '$.next: Infinity is not JSON'],
  ])('refuses by its path what JSON cannot say (case %$)', (value, message) => {
    expect(() => encodeArgument(value)).toThrow(message);
  });

  it('refuses a cycle by its path, and takes the same object twice', () => {
    const shared = { s: 1 };
    expect(encodeArgument([shared, shared])).toBe('[{"s":1},{"s":1}]');
    const cycle: { a: { b: unknown[] } } = { a: { b: [1] } };
    cycle.a.b.push(cycle);
    expect(() => encodeArgument(cycle)).toThrow('$.a.b[1]: a cycle is not JSON');
  });
});

describe('encodeOutput', () => {
  it('converts in silence what loses nothing', () => {
    const value = { date: new Date(0), gone: undefined, zero: -0 };
    expect(output(value)).toEqual({
      value: { date: '1970-01-01T00:00:00.000Z', zero: 0 },
      warnings: [],
    });
  });

  it.each<[string, unknown, unknown, readonly string[]]>([
    [
      'Map with string keys',
      new Map([['a', 1]]),
      { a: 1 },
      ['$: a Map is not JSON; it became an object'],
    ],
    [
      'other Map',
      new Map([[1, 2]]),
      [[1, 2]],
      ['$: a Map is not JSON; it became an array of pairs'],
    ],
    ['Set', { s: new Set([1]) }, { s: [1] }, ['$.s: a Set is not JSON; it became an array']],
    [
      'typed array',
      [new Uint8Array([1, 2])],
      [[1, 2]],
      ['$[0]: a typed array is not JSON; it became an array'],
    ],
    [
      'Error',
      new TypeError('bad'),
      { name: 'TypeError', message: 'bad' },
      ['$: an Error is not JSON; it became { name, message }'],
    ],
    [
      'BigInt',
      { id: 10n ** 20n },
      { id: '100000000000000000000' },
      ['$.id: a BigInt is not JSON; it became its decimal text'],
    ],
    ['non-finite number', [Number.NaN, 1], [null, 1], ['$[0]: NaN is not JSON; it became null']],
    [
      'function in an object',
      { f: () => 1, k: 1 },
      { k: 1 },
      ['$.f: a function is not JSON; it was left out'],
    ],
    [
      'function in an array',
      [() => 1, 2],
      [null, 2],
      ['$[0]: a function is not JSON; it was left out'],
    ],
    ['RegExp', /a/g, '/a/g', ['$: a RegExp is not JSON; it became its text']],
    ['invalid Date', new Date(Number.NaN), null, ['$: NaN is not JSON; it became null']],
  ])('converts a %s and says so once', (_name, value, converted, warnings) => {
    expect(output(value)).toEqual({ value: converted, warnings });
  });

  it('cuts a cycle where it closes', () => {
    const cycle: Record<string, unknown> = { a: 1 };
    cycle['self'] = cycle;
    expect(output(cycle)).toEqual({
      value: { a: 1, self: '[circular]' },
      warnings: ['$.self: a cycle is not JSON; it became "[circular]"'],
    });
  });

  it('has nothing to say of undefined', () => {
    expect(output(undefined)).toEqual({ value: undefined, warnings: [] });
  });

  it('passes on what a getter throws', () => {
    const value = {
      get bad(): never {
        throw new RangeError('no');
      },
    };
    expect(() => output(value)).toThrow(RangeError);
  });
});

describe('encodeLossless', () => {
  it.each([
    [{ a: undefined }, '$.a'],
    [{ a: -0 }, '$.a'],
    [{ a: new Date(0) }, '$.a'],
    [{ a: { toJSON: () => 1 } }, '$.a.toJSON'],
    [[undefined], '$[0]'],
    [Object.create({ inherited: 1 }), '$'],
  ])('refuses what would not come back the same (case %$)', (value, path) => {
    let thrown: unknown;
    try {
      encodeLossless(value);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(JsonConversionError);
    expect((thrown as JsonConversionError).path).toBe(path);
  });
});
