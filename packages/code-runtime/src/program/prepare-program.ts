import type { CodeRunFailure, CodeRunWarning } from '../code-runtime.ts';
import { codeFrame } from './code-frame.ts';
import { parseProgram } from './parse-program.ts';
import { recoverSource } from './recover-source.ts';
import { stripTypes } from './strip-types.ts';

/** A program that an engine can compile, or why there is none. */
export type PreparedProgram =
  | {
      /** The body of an async function; each line and column is where it was in the program. */
      readonly javascript: string;
      readonly warnings: readonly CodeRunWarning[];
    }
  | { readonly failure: CodeRunFailure };

/** A place in a program, and what is wrong there. */
export interface ProgramFinding {
  readonly message: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
}

/**
 * Makes JavaScript of the program that a model wrote.
 *
 * Pure and synchronous, and it reads hostile text: run it where it may block, under a time limit.
 *
 * @param program - the text as it was handed in
 * @returns JavaScript, or a `syntax` failure that says where
 */
export function prepareProgram(program: string): PreparedProgram {
  const source = recoverSource(program);
  const parsed = parseProgram(source);
  const finding = parsed.findings[0];
  if (finding) return { failure: syntaxFailure(program, finding) };
  const stripped = stripTypes(parsed.sourceFile);
  return 'finding' in stripped
    ? { failure: syntaxFailure(program, stripped.finding) }
    : { javascript: stripped.javascript, warnings: [] };
}

function syntaxFailure(program: string, { message, line, column }: ProgramFinding): CodeRunFailure {
  const frame = codeFrame(program, line, column);
  return { kind: 'syntax', message, line, column, ...(frame === undefined ? {} : { frame }) };
}
