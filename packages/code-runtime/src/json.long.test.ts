import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  encodeArgument,
  encodeLossless,
  encodeOutput,
  JsonConversionError,
  parseJson,
} from './json.ts';

/** Any value that a program may hand over, of any class and nesting. */
const anything = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withTypedArray: true,
  withSparseArray: true,
  withNullPrototype: true,
  withUnicodeString: true,
});

it('every value has a JSON form as output, and one as argument or a refusal by path', () => {
  fc.assert(
    fc.property(anything, (value) => {
      const output = encodeOutput(value, () => {});
      expect(() => output === undefined || parseJson(output)).not.toThrow();
      try {
        const argument = encodeArgument(value);
        // Where nothing is refused, nothing is converted either.
        expect(argument).toBe(output);
      } catch (error) {
        expect(error).toBeInstanceOf(JsonConversionError);
        expect((error as JsonConversionError).path).toMatch(/^\$/);
      }
    }),
    { numRuns: 20_000 },
  );
});

it('what is lossless comes back equal, and its text is the text of what comes back', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (drawn) => {
      const value = parseJson(JSON.stringify(drawn));
      const text = encodeLossless(value);
      expect(parseJson(text)).toEqual(value);
      expect(encodeLossless(parseJson(text))).toBe(text);
    }),
    { numRuns: 20_000 },
  );
});
