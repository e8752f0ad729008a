import * as fc from 'fast-check';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { schemaToType } from './schema-to-type.ts';

function typeOf(schema: unknown): string {
  return schemaToType(schema).type;
}
function parse(text: string): unknown {
  return JSON.parse(text);
}

describe('schemaToType', () => {
  it.each<[unknown, string]>([
    [{ type: 'string' }, 'string'],
    [{ type: 'integer' }, 'number'],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ type: 'string', nullable: true }, 'string | null'],
    [{ enum: ['a', 1, null] }, '"a" | 1 | null'],
    [{ type: 'string', enum: ['a', 1] }, '"a"'],
    [{ const: 'x' }, '"x"'],
    [true, 'unknown'],
    [false, 'never'],
    [{}, 'unknown'],
    [{ description: 'says nothing of the type' }, 'unknown'],
    [{ type: 'array' }, 'unknown[]'],
    [{ type: 'array', items: { type: ['string', 'null'] } }, '(string | null)[]'],
    [{ items: { enum: ['a', 'b'] }, type: 'array' }, '("a" | "b")[]'],
    [
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], minItems: 1 },
      '[string, number?, ...unknown[]]',
    ],
    [{ items: [{ type: 'string' }], additionalItems: false, type: 'array' }, '[string?]'],
  ])('writes %j as %s', (schema, type) => {
    expect(typeOf(schema)).toBe(type);
  });

  it.each<[unknown, string]>([
    [
      { properties: { a: { type: 'string' }, b: {} }, required: ['b'] },
      '{ a?: string; b: unknown }',
    ],
    [{ type: 'object' }, '{ [key: string]: unknown }'],
    [{ type: 'object', additionalProperties: false }, '{ [key: string]: never }'],
    [{ type: 'object', required: ['q'] }, '{ q: unknown }'],
    [
      {
        type: 'object',
        properties: { n: { type: 'number' } },
        additionalProperties: { type: 'string' },
      },
      '{ n?: number; [key: string]: string | number | undefined }',
    ],
    [
      { properties: { 'a-b': {}, '': {}, class: {} } },
      '{ "a-b"?: unknown; ""?: unknown; class?: unknown }',
    ],
    [{ properties: { toString: { type: 'string' } } }, '{ toString?: any }'],
  ])('writes the object %j as %s', (schema, type) => {
    expect(typeOf(schema)).toBe(type);
  });

  it('takes __proto__ as a name', () => {
    const schema = parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}');
    expect(typeOf(schema)).toBe('{ __proto__?: any }');
  });

  it('combines what a node says with its compositions, and parenthesises unions', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string' } },
      allOf: [{ required: ['a'] }],
      oneOf: [{ properties: { k: { const: 1 } } }, { properties: { k: { const: 2 } } }],
    };
    expect(typeOf(schema)).toBe('{ a?: string } & { a: unknown } & ({ k?: 1 } | { k?: 2 })');
    expect(typeOf({ anyOf: [{ type: 'string' }, {}] })).toBe('unknown');
  });

  it('writes local references out, with what stands beside them', () => {
    const schema = {
      $defs: { 'a/b': { type: 'string' } },
      properties: { x: { $ref: '#/$defs/a~1b', description: 'd' } },
    };
    expect(typeOf(schema)).toBe('{ x?: string }');
  });

  it('degrades a node it cannot say, and that node alone', () => {
    const { type, diagnostics } = schemaToType({
      properties: {
        good: { type: 'string' },
        remote: { $ref: 'http://127.0.0.1:1/secret.json' },
        odd: { type: 'str' },
        nothing: null,
      },
    });
    expect(type).toBe('{ good?: string; remote?: unknown; odd?: unknown; nothing?: unknown }');
    expect(diagnostics.map(({ path }) => path)).toEqual([
      '#/properties/remote/$ref',
      '#/properties/odd/type',
      '#/properties/nothing',
    ]);
  });

  it('ends on recursion, on depth, and on references that multiply', () => {
    expect(typeOf({ type: 'object', properties: { child: { $ref: '#' } } })).toMatch(
      /^{ child\?: { child\?: unknown } }$/,
    );
    let deep: unknown = { type: 'string' };
    for (let depth = 0; depth < 60; depth += 1) deep = { type: 'array', items: deep };
    expect(typeOf(deep)).toMatch(/^unknown(\[\])+$/);
    const $defs: Record<string, unknown> = { a0: { type: 'string' } };
    for (let index = 1; index < 20; index += 1) {
      const $ref = `#/$defs/a${index - 1}`;
      $defs[`a${index}`] = { type: 'object', properties: { x: { $ref }, y: { $ref } } };
    }
    expect(typeOf({ $defs, $ref: '#/$defs/a19' }).length).toBeLessThan(200_000);
  });

  it('shows nothing hidden in a literal, and still means it exactly', () => {
    const text = 'a\u202e\u2028"`\n*/';
    const type = typeOf({ const: text });
    expect(type).toMatch(/^[\u0020-\u007e]+$/);
    expect(JSON.parse(type)).toBe(text);
  });

  it('writes a type that parses, for any JSON value as schema', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), schemaLike()), (schema) => {
        const source = `type T = ${typeOf(schema)};`;
        expect(syntaxErrors(source)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});

function syntaxErrors(source: string): readonly string[] {
  const { diagnostics = [] } = ts.transpileModule(source, { reportDiagnostics: true });
  return diagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

function schemaLike(): fc.Arbitrary<unknown> {
  const keywords =
    'type properties required items prefixItems additionalProperties anyOf oneOf allOf enum const nullable minItems patternProperties $ref definitions'.split(
      ' ',
    );
  const types = fc.constantFrom('string', 'object', 'array', 'integer', 'null');
  const { schema } = fc.letrec((tie) => ({
    schema: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom({ $ref: '#' }, { $ref: '#/definitions/a' }, true, false, null),
      fc.jsonValue(),
      fc.record({ type: types, properties: fc.dictionary(fc.string(), tie('schema')) }),
      fc.dictionary(
        fc.constantFrom(...keywords),
        fc.oneof(
          tie('schema'),
          types,
          fc.array(tie('schema'), { maxLength: 3 }),
          fc.dictionary(fc.string(), tie('schema'), { maxKeys: 3 }),
        ),
      ),
    ),
  }));
  return schema;
}
