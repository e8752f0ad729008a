import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeFrame } from './code-frame.ts';
import { prepareProgram } from './prepare-program.ts';

function javascriptOf(program: string): string {
  const prepared = prepareProgram(program);
  if ('failure' in prepared) throw new Error(JSON.stringify(prepared.failure));
  return prepared.javascript;
}

function failureOf(program: string): {
  line?: number;
  column?: number;
  message: string;
  kind: string;
  frame?: string;
} {
  const prepared = prepareProgram(program);
  if (!('failure' in prepared)) throw new Error(`prepared: ${prepared.javascript}`);
  return prepared.failure;
}

describe('prepareProgram', () => {
  it('removes types and leaves every character that stays where it was', () => {
    const program =
      'interface A {\n  x: number\n}\nconst a = { x: 1 } satisfies A as A;\nreturn a!.x';
    const javascript = javascriptOf(program);
    expect(javascript).toHaveLength(program.length);
    for (const word of ['const a', '{ x: 1 }', 'return a']) {
      expect(javascript.indexOf(word)).toBe(program.indexOf(word));
    }
    expect(javascript).not.toContain('interface');
  });

  it('takes await and return at the top level, in every position', () => {
    for (const program of [
      'return await x',
      'const [a, b] = await Promise.all([f(), g()]); return a',
      'for await (const x of y) { console.log(x) }',
      'const f = async () => { await g() }; return (await f(), 1)',
      'if (await x) return 1; else return await y',
    ]) {
      expect(javascriptOf(program)).toBe(program);
    }
  });

  it.each([
    ['```ts\nreturn 1\n```', 2],
    ['```\nreturn 1\n```\n', 2],
    ['Here is the program:\n\n```typescript\nreturn 1\n```\nIt returns 1.', 4],
    ['~~~js\nreturn 1\n~~~', 2],
  ])('reads the program out of %j without moving it', (text, line) => {
    const lines = javascriptOf(text).split('\n');
    expect(lines[line - 1]).toBe('return 1');
    expect(lines.join('').trim()).toBe('return 1');
    expect(lines).toHaveLength(text.split('\n').length);
  });

  it('reads past a byte order mark and a `#!` line', () => {
    expect(javascriptOf('\uFEFFreturn 1')).toBe(' return 1');
    expect(javascriptOf('#!/usr/bin/env node\nreturn 1')).toMatch(/^ +\nreturn 1$/);
  });

  it('reports a syntax error at the original line and column, with a frame', () => {
    expect(failureOf('const a = 1;\nconst b = ;\nreturn a')).toEqual({
      kind: 'syntax',
      message: 'Expression expected.',
      line: 2,
      column: 11,
      frame: '  1 | const a = 1;\n> 2 | const b = ;\n    |           ^\n  3 | return a',
    });
    expect(failureOf('Run this:\n```ts\nconst = 1\n```')).toMatchObject({ line: 3, column: 7 });
    expect(failureOf('const a = 1;\r\nconst b = ;')).toMatchObject({ line: 2, column: 11 });
  });

  it('does not let a brace end the body that it is compiled into', () => {
    expect(failureOf('}\nreturn 1;\n{')).toMatchObject({ kind: 'syntax', line: 1, column: 1 });
  });

  it.each([
    ['import fs from "fs"', 1, 1, 'import'],
    ['const a = 1;\nconst b = await import("fs")', 2, 17, 'import()'],
    ['return import.meta.url', 1, 8, 'import.meta'],
    ['export const a = 1', 1, 1, 'exports nothing'],
    ['import a = require("a")', 1, 1, 'import'],
  ])('refuses the module syntax of %j where it stands', (program, line, column, words) => {
    const failure = failureOf(program);
    expect(failure).toMatchObject({ kind: 'syntax', line, column });
    expect(failure.message).toContain(words);
  });

  it.each([
    ['let a = 1, b = 1; a <!-- /*\nconst q = await import("x"); return q //*/ b;', 1, 21],
    ['let x = 1;\n--> b\nreturn x', 2, 4],
    ['const z = x<!--y; return z', 1, 12],
  ])('refuses a comment in the manner of HTML in %j', (program, line, column) => {
    expect(failureOf(program)).toMatchObject({ kind: 'syntax', line });
    expect(failureOf(program).column).toBeLessThanOrEqual(column);
  });

  it('takes what only looks like one', () => {
    for (const program of [
      'let i = 3; while (i --> 0); return i',
      'return "<!--" + `\n--> ${1} <!--` + /<!--/.source // <!-- a\n/* --> */',
    ]) {
      expect(javascriptOf(program)).toBe(program);
    }
  });

  it('takes the word import where it is none', () => {
    const program =
      'const o = { import: (x: string) => x };\nreturn o.import("a") + "import(b)" // import("c")';
    expect(javascriptOf(program)).toContain('o.import("a")');
  });

  it('takes an import of types alone, which is none at run time', () => {
    expect(javascriptOf('import type { A } from "a";\nreturn 1').trim()).toMatch(/return 1$/);
  });

  it('says of TypeScript that is more than types where it stands', () => {
    expect(failureOf('const a = 1;\nenum E { A }')).toMatchObject({ line: 2, column: 1 });
    expect(failureOf('class P { constructor(private x: number) {} }')).toMatchObject({ line: 1 });
  });

  it('gives JavaScript or a located failure for any text', () => {
    const words = fc.constantFrom(
      'const ',
      'a',
      '=',
      '{',
      '}',
      '(',
      ')',
      '`',
      '${',
      '/*',
      '//',
      '\n',
      '"',
      'await ',
      'return ',
      '<T>',
      ': number',
      '```',
      '\u2028',
      'async ',
      '=>',
      'import ',
    );
    fc.assert(
      fc.property(
        fc.array(fc.oneof(words, fc.string())).map((parts) => parts.join('')),
        (program) => {
          const prepared = prepareProgram(program);
          if ('failure' in prepared) {
            expect(prepared.failure.line).toBeGreaterThan(0);
            expect(prepared.failure.column).toBeGreaterThan(0);
          } else expect(prepared.javascript).toHaveLength(program.length);
        },
      ),
    );
  });
});

describe('codeFrame', () => {
  it('keeps tabs before the marker, so that it stands under its character', () => {
    expect(codeFrame('\t\tfail()', 1, 3)).toBe('> 1 | \t\tfail()\n    | \t\t^');
  });

  it('shows a window of a long line', () => {
    const frame = codeFrame(`${'a;'.repeat(3000)}boom()`, 1, 6001) as string;
    expect(frame).toContain('boom()');
    expect(frame.length).toBeLessThan(300);
    const [line, marker] = frame.split('\n') as [string, string];
    expect(line.slice(marker.indexOf('^'))).toBe('boom()');
  });

  it('has nothing to show of a line that the program does not have', () => {
    expect(codeFrame('a', 2)).toBeUndefined();
  });
});
