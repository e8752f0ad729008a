import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const PAGES = ['*.md', 'docs/**/*.md', 'packages/*/README.md', 'examples/**/*.md'].flatMap(
  (pattern) => globSync(pattern, { cwd: ROOT, exclude: (path) => path.includes('node_modules') }),
);

interface Fence {
  readonly page: string;
  readonly line: number;
  readonly text: string;
}

function fencesOf(page: string): readonly Fence[] {
  const source = readFileSync(join(ROOT, page), 'utf8');
  return [...source.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map((match) => ({
    page,
    line: source.slice(0, match.index).split('\n').length,
    text: match[1] ?? '',
  }));
}

/** What the compiler says of the fences, each a module of its own. */
function problemsOf(fences: readonly Fence[]): readonly string[] {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.base.json'), ts.sys.readFile) as {
    config: { compilerOptions: object };
  };
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, ROOT);
  const virtual = new Map(
    // Below `test/`, so that packages are found as a user's would be.
    fences.map((fence, index) => [join(ROOT, 'test', `fence-${index}.ts`), fence]),
  );
  const settings: ts.CompilerOptions = {
    ...options,
    composite: false,
    declaration: false,
    declarationMap: false,
    noEmit: true,
    noUnusedLocals: false,
    noUnusedParameters: false,
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
  };
  const host = ts.createCompilerHost(settings);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (name) => virtual.has(name) || fileExists(name);
  host.readFile = (name) => virtual.get(name)?.text ?? readFile(name);
  host.getSourceFile = (name, ...rest) => {
    const fence = virtual.get(name);
    if (fence === undefined) return getSourceFile(name, ...rest);
    return ts.createSourceFile(name, `${fence.text}\nexport {};`, ts.ScriptTarget.ESNext, true);
  };
  const program = ts.createProgram([...virtual.keys()], settings, host);
  return ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
    const fence = file && virtual.get(file.fileName);
    const line = file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line : 0;
    const message = ts.flattenDiagnosticMessageText(messageText, ' ');
    return fence ? `${fence.page}:${fence.line + line + 1} ${message}` : message;
  });
}

it('every TypeScript fence type-checks', () => {
  const fences = PAGES.flatMap(fencesOf);
  expect(fences.length).toBeGreaterThan(0);
  expect(problemsOf(fences)).toEqual([]);
});

describe.each(PAGES)('%s', (page) => {
  const source = readFileSync(join(ROOT, page), 'utf8');

  it('links only to what is there', () => {
    const links = [...source.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '');
    const local = links
      .filter((link) => !/^(https?:|#)/.test(link))
      .map((link) => link.split('#')[0] ?? '');
    expect(local.filter((link) => !existsSync(join(ROOT, dirname(page), link)))).toEqual([]);
  });
});

it('the quick start of the README is examples/quick-start.ts, at most 20 lines, by line 30', () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const example = readFileSync(join(ROOT, 'examples/quick-start.ts'), 'utf8');
  const [fence] = fencesOf('README.md');
  expect(fence?.text).toBe(example);
  expect(example.trimEnd().split('\n').length).toBeLessThanOrEqual(20);
  expect(fence?.line).toBeLessThanOrEqual(30);
  expect(readme.split('\n')[0]).toBe('# Carrel');
});

/** The members of a union of string literals in a source file. */
function membersOf(file: string, type: string): readonly string[] {
  const source = ts.createSourceFile(
    file,
    readFileSync(join(ROOT, file), 'utf8'),
    ts.ScriptTarget.ESNext,
  );
  const declaration = source.statements.find(
    (statement) => ts.isTypeAliasDeclaration(statement) && statement.name.text === type,
  ) as ts.TypeAliasDeclaration;
  const { types } = declaration.type as ts.UnionTypeNode;
  return types.map((member) => ((member as ts.LiteralTypeNode).literal as ts.StringLiteral).text);
}

it.each([
  ['packages/code-runtime/src/code-runtime.ts', 'CodeRunFailureKind'],
  ['packages/code-runtime/src/errors.ts', 'CodeRuntimeErrorCode'],
  ['packages/tools-registry/src/tool-result.ts', 'ToolErrorCode'],
  ['packages/harness/src/errors.ts', 'HarnessErrorCode'],
])('docs/errors.md has a row for each member of %s %s', (file, type) => {
  const page = readFileSync(join(ROOT, 'docs/errors.md'), 'utf8');
  const members = membersOf(file, type);
  expect(members.length).toBeGreaterThan(3);
  // `check` is in the type, for the check before a run, and nothing gives it yet.
  const missing = members.filter((member) => !new RegExp(`^\\| \`${member}\` `, 'm').test(page));
  expect(missing.filter((member) => member !== 'check')).toEqual([]);
});

it('AGENTS.md stays within 600 words', () => {
  expect(readFileSync(join(ROOT, 'AGENTS.md'), 'utf8').split(/\s+/).length).toBeLessThanOrEqual(
    600,
  );
});
