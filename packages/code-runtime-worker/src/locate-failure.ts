import { codeFrame, type CodeRunFailure } from '@carrel/code-runtime';
import { BODY_LINE_OFFSET } from './guest/compile.ts';

/** A frame of the program itself on a stack; quickjs gives compiled text no name of ours. */
const PROGRAM_FRAME = /(?:\bprogram\.ts|<input>):(\d+):(\d+)/;

/**
 * The program's own place on a guest's stack.
 *
 * @param program - the text as it was handed in
 * @param stack - the engine's text; never shown to anybody
 * @returns line, column and frame, as far as the engine told them
 */
export function locateFailure(
  program: string,
  stack: string | undefined,
): Pick<CodeRunFailure, 'line' | 'column' | 'frame'> {
  const found = stack === undefined ? null : PROGRAM_FRAME.exec(stack);
  if (found === null) return {};
  const line = Number(found[1]) - BODY_LINE_OFFSET;
  const column = Number(found[2]);
  const frame = codeFrame(program, line, column);
  return frame === undefined ? {} : { line, column, frame };
}
