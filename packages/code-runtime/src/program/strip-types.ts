import { blankSourceFile } from 'ts-blank-space';
import type ts from 'typescript';
import { placeOf } from './parse-program.ts';
import type { ProgramFinding } from './prepare-program.ts';

/**
 * Replaces types by blanks, so that every line and column stays where it was.
 *
 * @returns JavaScript, or the first construct that is more than a type
 */
export function stripTypes(
  sourceFile: ts.SourceFile,
): { readonly javascript: string } | { readonly finding: ProgramFinding } {
  let refused: ts.Node | undefined;
  const javascript = blankSourceFile(sourceFile, (node) => {
    refused ??= node;
  });
  if (refused === undefined) return { javascript };
  const place = placeOf(sourceFile, refused.getStart(sourceFile));
  const firstLine = (refused.getText(sourceFile).split('\n')[0] ?? '').trim().slice(0, 60);
  return {
    finding: {
      message: `TypeScript that is more than types is not supported here: \`${firstLine}\``,
      ...place,
    },
  };
}
