import ts from 'typescript';
import type { ProgramFinding } from './prepare-program.ts';

/** The parser's own findings; present on every source file, but not in its public type. */
interface ParsedSourceFile extends ts.SourceFile {
  readonly parseDiagnostics: readonly ts.DiagnosticWithLocation[];
}

/** The line and column of an offset, from 1. */
export function placeOf(
  sourceFile: ts.SourceFile,
  offset: number,
): { readonly line: number; readonly column: number } {
  const { line, character } = sourceFile.getLineAndCharacterOfPosition(offset);
  return { line: line + 1, column: character + 1 };
}

/**
 * Parses a program and refuses what cannot work in it.
 *
 * @returns the syntax tree, and what is wrong in order of place; with findings, no tree may be used
 */
export function parseProgram(source: string): {
  readonly sourceFile: ts.SourceFile;
  readonly findings: readonly ProgramFinding[];
} {
  const sourceFile = ts.createSourceFile(
    'program.ts',
    source,
    {
      languageVersion: ts.ScriptTarget.ESNext,
      // A module, whatever it contains: only then does the parser read `await` at the top level.
      setExternalModuleIndicator: (file) => {
        (file as { externalModuleIndicator?: ts.Node | true }).externalModuleIndicator = true;
      },
    },
    true,
    ts.ScriptKind.TS,
  ) as ParsedSourceFile;
  const syntax = sourceFile.parseDiagnostics.map(({ start, messageText }) => ({
    message: ts.flattenDiagnosticMessageText(messageText, ' '),
    ...placeOf(sourceFile, start),
  }));
  const findings =
    syntax.length > 0 ? syntax : [...moduleFindings(sourceFile), ...htmlComments(sourceFile)];
  return { sourceFile, findings };
}

/** `import` and `export`, wherever they stand: a program has no modules. */
function moduleFindings(sourceFile: ts.SourceFile): readonly ProgramFinding[] {
  const findings: ProgramFinding[] = [];
  const visit = (node: ts.Node): void => {
    const problem = moduleProblem(node);
    if (problem !== undefined) {
      findings.push({ message: problem, ...placeOf(sourceFile, node.getStart(sourceFile)) });
    }
    ts.forEachChild(node, visit);
  };
  visit(sourceFile);
  return findings;
}

/**
 * Comments in the manner of HTML: a function body may have them and a module may not, so that the
 * engine would pass over text that the parser has read as code, and the other way round.
 */
function htmlComments(sourceFile: ts.SourceFile): readonly ProgramFinding[] {
  const code = blankLiterals(sourceFile).replace(/\/\/.*|\/\*[^]*?\*\//g, (comment) =>
    comment.replace(/[^\n\r\u2028\u2029]/g, ' '),
  );
  return [...code.matchAll(/<!--|^[^\S\n\r]*-->/gm)].map((match) => ({
    message: 'Comments in the manner of HTML are not part of TypeScript',
    ...placeOf(sourceFile, match.index + match[0].search(/\S/)),
  }));
}

/** The source with blanks in the place of every string, template and regular expression. */
function blankLiterals(sourceFile: ts.SourceFile): string {
  const { text } = sourceFile;
  let blanked = '';
  let done = 0;
  // In order of place, so that each piece of the source is copied once.
  const visit = (node: ts.Node): void => {
    if (
      ts.isStringLiteralLike(node) ||
      ts.isRegularExpressionLiteral(node) ||
      ts.isTemplateHead(node) ||
      ts.isTemplateMiddleOrTemplateTail(node)
    ) {
      const start = node.getStart(sourceFile);
      blanked += text.slice(done, start) + ' '.repeat(node.end - start);
      done = node.end;
    }
    ts.forEachChild(node, visit);
  };
  visit(sourceFile);
  return blanked + text.slice(done);
}

function moduleProblem(node: ts.Node): string | undefined {
  if (
    ts.isImportEqualsDeclaration(node) ||
    (ts.isImportDeclaration(node) && node.importClause?.phaseModifier !== ts.SyntaxKind.TypeKeyword)
  ) {
    return 'Modules are not available in a program: there is no `import`. Use the globals that are declared for it.';
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    return 'Modules are not available in a program: there is no `import()`. Use the globals that are declared for it.';
  }
  if (ts.isMetaProperty(node) && node.keywordToken === ts.SyntaxKind.ImportKeyword) {
    return 'Modules are not available in a program: there is no `import.meta`.';
  }
  if (
    ts.isExportAssignment(node) ||
    ts.isExportDeclaration(node) ||
    (ts.canHaveModifiers(node) &&
      ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true &&
      ts.isSourceFile(node.parent))
  ) {
    return 'A program exports nothing: `return` the value instead.';
  }
  return undefined;
}
