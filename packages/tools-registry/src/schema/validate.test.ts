import type { JsonValue } from '@carrel/code-runtime';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SchemaValidator } from './validate.ts';

function problems(schema: unknown, value: JsonValue): readonly string[] {
  return new SchemaValidator(schema).validate(value);
}
function parse(text: string): JsonValue {
  return JSON.parse(text) as JsonValue;
}

describe('SchemaValidator messages', () => {
  const schema = {
    type: 'object',
    properties: {
      filter: { type: 'object', properties: { since: { type: 'string' } }, required: ['since'] },
      state: { enum: ['open', 'closed'] },
      ids: { type: 'array', items: { type: 'integer' } },
    },
    required: ['state'],
    additionalProperties: false,
  };

  it('names the path, what was expected and what was received', () => {
    expect(problems(schema, { state: 'open', filter: { since: 5 }, ids: [1, 'x'] })).toEqual([
      '$.filter.since: expected string, received number 5',
      '$.ids[1]: expected integer, received "x"',
    ]);
  });

  it('says the type of what is missing', () => {
    expect(problems(schema, { filter: {} })).toEqual([
      '$.state: expected "open" | "closed", received nothing (it is required)',
      '$.filter.since: expected string, received nothing (it is required)',
    ]);
  });

  it('names the closest allowed value of an enum', () => {
    expect(problems(schema, { state: 'opn' })).toEqual([
      '$.state: expected one of "open", "closed", received "opn"; did you mean "open"?',
    ]);
  });

  it('names the closest field for an unknown one', () => {
    expect(problems(schema, { state: 'open', filtre: {} })).toEqual([
      '$.filtre: no such field (known: filter, state, ids); did you mean "filter"?',
    ]);
  });

  it('says an alternative as a whole, or what is wrong in the one that was meant', () => {
    const either = {
      properties: {
        v: { anyOf: [{ type: 'string' }, { type: 'object', properties: { k: { const: 1 } } }] },
      },
    };
    expect(problems(either, { v: 5 })).toEqual([
      '$.v: expected string | { k?: 1 }, received number 5',
    ]);
    expect(problems(either, { v: { k: 2 } })).toEqual(['$.v.k: expected 1, received number 2']);
  });

  it('bounds how much it says of a large value', () => {
    const list = { type: 'array', items: { type: 'string' } };
    expect(
      problems(
        list,
        Array.from({ length: 500 }, () => 1),
      ),
    ).toHaveLength(9);
    expect(
      problems(
        list,
        Array.from({ length: 500_000 }, () => 1),
      ),
    ).toHaveLength(1);
  });
});

describe('SchemaValidator and hostile values', () => {
  it('runs a pattern in linear time', () => {
    const started = performance.now();
    expect(problems({ type: 'string', pattern: '^(a|a)*$' }, `${'a'.repeat(40)}!`)).toHaveLength(1);
    expect(problems({ type: 'string', pattern: '^(a|a)*$' }, 'a'.repeat(40))).toEqual([]);
    expect(performance.now() - started).toBeLessThan(1_000);
  });

  it.each(['url', 'regex', 'uri', 'email', 'date-time', 'uri-template', 'json-pointer'])(
    'checks the format %s of a megabyte without blocking',
    (format) => {
      const started = performance.now();
      for (const part of ['http://a@', '((((a', 'a.', '{a}', '%20', '/', '1']) {
        problems({ type: 'string', format }, part.repeat(1_000_000 / part.length));
      }
      expect(performance.now() - started).toBeLessThan(2_000);
    },
  );

  it('finds equal items among a hundred thousand without comparing them pairwise', () => {
    const unique = { type: 'array', uniqueItems: true };
    const items = Array.from({ length: 100_000 }, (_, index) => ({ a: index }));
    const started = performance.now();
    expect(problems(unique, items)).toEqual([]);
    expect(problems(unique, parse('[{"a":1,"b":2},{"b":2,"a":1}]'))).toHaveLength(1);
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  it('takes members of Object.prototype and __proto__ as data', () => {
    const schema = parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"toString":{"type":"string"}},"required":["toString"],"additionalProperties":false}',
    );
    expect(problems(schema, {})).toHaveLength(1);
    expect(problems(schema, parse('{"__proto__":1,"toString":"x"}'))).toEqual([
      '$.__proto__: expected string, received number 1',
    ]);
    expect(problems(schema, parse('{"__proto__":"x","toString":"x"}'))).toEqual([]);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it('ends on a recursive schema, however deep the value', () => {
    const tree = { type: 'object', properties: { child: { $ref: '#' } }, required: ['child'] };
    const deep = parse(`${'{"child":'.repeat(500)}1${'}'.repeat(500)}`);
    expect(problems(tree, deep)[0]).toMatch(/child: expected object, received number 1$/);
  });
});

describe('SchemaValidator and the schemas of strangers', () => {
  it.each([
    [{ properties: { a: { type: 'str' }, b: { type: 'string' } } }, { a: 1, b: 'x' }, { b: 1 }],
    [{ properties: null, required: ['a'] }, { a: 1 }, {}],
    [{ items: [{ type: 'string' }], additionalItems: false }, ['x'], [1]],
    [{ minimum: 3, exclusiveMinimum: true }, 4, 3],
    [{ type: 'string', nullable: true, enum: ['a'] }, null, 'b'],
    [{ dependencies: { a: ['b'] } }, { a: 1, b: 1 }, { a: 1 }],
    [{ $schema: 'http://nowhere/', id: 'x', $id: 'y', type: 'string' }, 'x', 1],
    [{ definitions: { A: { id: 'q', type: 'string' } }, $ref: '#/definitions/A' }, 'x', 1],
    [{ $async: true, type: 'string' }, 'x', 1],
    [{ components: { S: { type: 'string' } }, items: { $ref: '#/components/S' } }, ['x'], [1]],
    [{ type: 'string', format: '__proto__' }, 'x', 1],
  ])('gives %j its meaning', (schema, good, bad) => {
    expect(problems(schema, good)).toEqual([]);
    expect(problems(schema, bad)).not.toEqual([]);
  });

  it.each([
    [{ type: 'object', properties: { a: { pattern: '(?=x)y' } } }, '#/properties/a/pattern'],
    [
      { patternProperties: { '(?!x)': false }, additionalProperties: false },
      '#/patternProperties/(?!x)',
    ],
    [{ $ref: 'http://127.0.0.1:1/x.json' }, '#/$ref'],
    [{ $ref: '#' }, '#/$defs/d1'],
    [
      { allOf: [{ $ref: '#/definitions/A' }], definitions: { A: { $ref: '#/definitions/A' } } },
      '#/$defs/d1',
    ],
    [{ enum: [] }, '#/enum'],
    [{ minLength: 'a' }, '#/minLength'],
  ])('degrades one keyword of %j and says which', (schema, path) => {
    const validator = new SchemaValidator(schema);
    expect(validator.validate({ a: 'anything' })).toEqual([]);
    expect(validator.diagnostics.map((diagnostic) => diagnostic.path)).toContain(path);
  });

  it('never throws, and never changes a value, on any schema', () => {
    fc.assert(
      fc.property(schemaLike(), fc.jsonValue(), (schema, value) => {
        const before = JSON.stringify(value);
        const validator = new SchemaValidator(schema);
        expect(validator.validate(value as JsonValue)).toBeInstanceOf(Array);
        expect(validator.diagnostics).toBeInstanceOf(Array);
        expect(JSON.stringify(value)).toBe(before);
      }),
      { numRuns: 300 },
    );
  });

  it('lets a value pass that the compiled check itself breaks on, and says so', () => {
    const schema = {
      anyOf: [{ patternProperties: { a: { type: 'string' } }, additionalProperties: [] }],
      patternProperties: { a: [] },
    };
    const validator = new SchemaValidator(schema);
    expect(validator.validate({ a: {} })).toEqual([]);
    expect(validator.diagnostics.at(-1)?.message).toMatch(/^cannot be checked/);
  });

  it('leaves out defaults and conversions', () => {
    const value = Object.freeze({ b: '5' });
    const schema = { properties: { a: { default: 1 }, b: { type: 'number' } } };
    expect(problems(schema, value)).toEqual(['$.b: expected number, received "5"']);
    expect(value).toEqual({ b: '5' });
  });
});

/** Objects with the keywords of schemas and any JSON at their places. */
function schemaLike(): fc.Arbitrary<unknown> {
  const keywords =
    'type properties required items prefixItems additionalProperties anyOf oneOf allOf not if then enum const pattern format minimum exclusiveMinimum minLength nullable $ref $id id patternProperties dependencies uniqueItems definitions'.split(
      ' ',
    );
  const { schema } = fc.letrec((tie) => ({
    schema: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom({ type: 'string' }, { $ref: '#' }, { $ref: '#/definitions/a' }, true, null),
      fc.jsonValue(),
      fc.dictionary(
        fc.constantFrom(...keywords),
        fc.oneof(
          tie('schema'),
          fc.array(tie('schema'), { maxLength: 3 }),
          fc.dictionary(fc.constantFrom('a', '__proto__', 'x-y'), tie('schema'), { maxKeys: 3 }),
        ),
      ),
    ),
  }));
  return schema;
}

it('lists a schema that does not compile before anything was checked', () => {
  // Registered schemas are JSON; what the compiler refuses of those is left out before it.
  const { diagnostics } = new SchemaValidator({ const: 1n });
  expect(diagnostics).toEqual([
    { path: '#', message: expect.stringContaining('cannot be compiled') as string },
  ]);
});
