import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { describe, expect, it } from 'vitest';
import { defineTool } from './tool.ts';
import { toolResult } from './tool-result.ts';

const definition = {
  name: 'echo',
  description: 'Says it again.',
  inputSchema: { type: 'object' },
  execute: (input: object): unknown => input,
} as const;
const context = { callId: '1', signal: new AbortController().signal };

function thenRejecting(_resolve: unknown, reject: (error: Error) => void): void {
  reject(new Error('db failed'));
}
function answer(value: unknown) {
  return defineTool({ ...definition, execute: () => value }).execute({}, context);
}

describe('defineTool', () => {
  it('sets every option to its default', () => {
    const tool = defineTool(definition);
    expect(tool).toMatchObject({
      outputSchema: undefined,
      parallelSafe: false,
      timeoutMs: undefined,
      spill: true,
    });
    expect(tool.needsApproval({})).toBe(false);
  });

  it.each([
    [{ name: '' }, /`name`.*1 to 128 characters, got 0 characters/],
    [{ name: 'x'.repeat(129) }, /got 129 characters/],
    [{ name: '\ud800' }, /well-formed/],
    [{ description: undefined }, /`description` of tool "echo" to be a string, got undefined/],
    [{ inputSchema: null }, /`inputSchema`.*got null/],
    [{ inputSchema: 'x' }, /`inputSchema`.*got x \(string\)/],
    [{ outputSchema: [] }, /`outputSchema`.*got an array/],
    [{ inputSchema: { default: Number.NaN } }, /`inputSchema` to be JSON: \$\.default/],
    [{ execute: 1 }, /`execute` of tool "echo" to be a function, got number/],
    [{ timeoutMs: 0 }, /`timeoutMs`.*from 1 to 2147483647, got 0 \(number\)/],
    [{ parallelSafe: 'yes' }, /`parallelSafe`.*boolean, got yes \(string\)/],
    [{ approval: 1 }, /`approval`.*a boolean or a function/],
  ])('refuses %j early, naming option, expectation and value', (change, message) => {
    expect(() => defineTool({ ...definition, ...change } as never)).toThrow(TypeError);
    expect(() => defineTool({ ...definition, ...change } as never)).toThrow(message);
  });

  it('keeps a snapshot of the schema that later changes do not reach', () => {
    const inputSchema: Record<string, unknown> = { type: 'object' };
    const tool = defineTool({ ...definition, inputSchema });
    inputSchema['type'] = 'string';
    expect(tool.inputSchema).toEqual({ type: 'object' });
  });

  it('turns what a body answers with into a result', async () => {
    expect(await answer('text')).toEqual({
      isError: false,
      content: [{ type: 'text', text: 'text' }],
      value: 'text',
    });
    expect(await answer({ a: [1, undefined] })).toMatchObject({
      content: [{ type: 'text', text: '{"a":[1,null]}' }],
    });
    expect(await answer(undefined)).toEqual({
      isError: false,
      content: [{ type: 'text', text: 'no value returned' }],
    });
    const own = toolResult({ content: 'seen by the model', value: { rows: 3 } });
    expect(await answer(own)).toBe(own);
  });

  it('blames the tool for a result that is not JSON, naming the path', async () => {
    const tool = defineTool({ ...definition, execute: () => ({ at: new Map() }) });
    const result = await tool.execute({}, context);
    expect(result.error?.code).toBe('INVALID_OUTPUT');
    expect(result.error?.message).toMatch(/`echo` ran, but .*\$\.at: a Map is not JSON/);
  });

  it.each([
    [
      'a thrown error',
      () => {
        throw new Error('db failed');
      },
    ],
    ['a rejection', () => Promise.reject(new Error('db failed'))],
    // oxlint-disable-next-line unicorn/no-thenable -- it is what the test is about
    ['a rejecting thenable', () => ({ then: thenRejecting })],
  ])('makes the same failed call of %s', async (_title, execute) => {
    const result = await defineTool({ ...definition, execute }).execute({}, context);
    expect(result).toEqual({
      isError: true,
      content: [{ type: 'text', text: 'db failed' }],
      error: { code: 'TOOL_FAILED', message: 'db failed' },
    });
  });

  it('passes on message and code of an error, and nothing else of it', async () => {
    const error = Object.assign(new Error('db failed'), { code: 'E1', secret: 's3cr3t' });
    const result = await defineTool({
      ...definition,
      execute: () => Promise.reject(error),
    }).execute({}, context);
    expect(result.error).toEqual({ code: 'E1', message: 'db failed' });
    expect(JSON.stringify(result)).not.toMatch(/s3cr3t|tool\.test/);
  });

  it('cuts an error message of megabytes, and says so', async () => {
    const result = await answer(Promise.reject(new Error('x'.repeat(10_000_000))));
    expect(result.error?.message.length).toBeLessThan(70_000);
    expect(result.error?.message).toMatch(/more characters were cut/);
  });
});

describe('defineTool with a Standard Schema', () => {
  type Schema = StandardSchemaV1<unknown, { n: number }> & StandardJSONSchemaV1;
  const schema: Schema = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) => {
        const { n } = value as { n: string };
        return n === 'bad'
          ? { issues: [{ message: 'no good', path: ['list', 0, { key: 'n' }] }] }
          : { value: { n: Number(n) } };
      },
      jsonSchema: {
        input: ({ target }) => ({ type: 'object', title: target }),
        output: () => ({ type: 'object' }),
      },
    },
  };

  it('takes its JSON Schema and hands its parsed output to the body', async () => {
    const tool = defineTool({ ...definition, inputSchema: schema, execute: ({ n }) => n + 1 });
    expect(tool.inputSchema).toEqual({ type: 'object', title: 'draft-2020-12' });
    expect((await tool.execute({ n: '41' }, context)).value).toBe(42);
  });

  it('reports its issues as invalid arguments, with paths, and does not call the body', async () => {
    const tool = defineTool({
      ...definition,
      inputSchema: schema,
      execute: () => expect.unreachable(),
    });
    const result = await tool.execute({ n: 'bad' }, context);
    expect(result.error?.code).toBe('INVALID_ARGUMENTS');
    expect(result.error?.message).toContain('$.list[0].n: no good');
  });

  it('refuses a schema that does not convert to JSON Schema', () => {
    const { jsonSchema: _, ...bare } = schema['~standard'];
    const inputSchema = { '~standard': bare } as StandardSchemaV1<unknown, object>;
    expect(() => defineTool({ ...definition, inputSchema })).toThrow(
      /`inputSchema` to convert to JSON Schema: .* "test" has no `~standard.jsonSchema.input`/,
    );
  });
});
