import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

/** What each package may import of the others: the arrows of docs/architecture.md. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  'code-runtime': [],
  'code-runtime-worker': ['code-runtime'],
  'tools-registry': ['code-runtime'],
  harness: ['code-runtime', 'tools-registry'],
};

function specifiersOf(file: string): readonly string[] {
  return ts
    .preProcessFile(readFileSync(file, 'utf8'), true, true)
    .importedFiles.map(({ fileName }) => fileName);
}

/** The built file that `specifier` means in `file`; `undefined` outside this project. */
function resolve(specifier: string, file: string): string | undefined {
  if (specifier.startsWith('.')) return fileURLToPath(new URL(specifier, pathToFileURL(file)));
  if (!specifier.startsWith('@carrel/')) return undefined;
  const [, name, ...subpath] = specifier.split('/') as [string, string, ...string[]];
  const directory = join(ROOT, 'packages', name);
  const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as {
    exports: Record<string, { default: string }>;
  };
  const target = manifest.exports[['.', ...subpath].join('/')];
  if (target === undefined) throw new Error(`${specifier} is not exported`);
  return join(directory, target.default);
}

/** Every file and every foreign package that loading `entry` loads, dynamic imports included. */
function graphOf(entry: string): {
  readonly files: readonly string[];
  readonly packages: readonly string[];
} {
  const files = new Set<string>();
  const packages = new Set<string>();
  const visit = (file: string): void => {
    if (files.has(file)) return;
    files.add(file);
    for (const specifier of specifiersOf(file)) {
      const target = resolve(specifier, file);
      if (target === undefined) packages.add(specifier);
      else visit(target);
    }
  };
  visit(join(ROOT, entry));
  return { files: [...files].map((file) => relative(ROOT, file)), packages: [...packages] };
}

describe.each(['worker.js', 'watchdog-thread.js', 'guest/guest.js'])(
  'the worker file %s',
  (entry) => {
    const { files, packages } = graphOf(`packages/code-runtime-worker/dist/${entry}`);

    it('loads neither TypeScript nor a barrel', () => {
      expect(packages.filter((name) => /typescript|ts-blank-space/.test(name))).toEqual([]);
      expect(files.filter((file) => file.endsWith('/index.js'))).toEqual([]);
    });
  },
);

it('the guest loads nothing but its own modules and the JSON codec', () => {
  const { files, packages } = graphOf('packages/code-runtime-worker/dist/guest/guest.js');
  expect(packages).toEqual([]);
  expect(files.filter((file) => !file.includes('/guest/'))).toEqual([
    'packages/code-runtime/dist/json.js',
  ]);
});

describe.each(Object.entries(ARROWS))('the package %s', (name, allowed) => {
  const built = globSync(`packages/${name}/dist/**/*.js`, { cwd: ROOT }).map((file) =>
    join(ROOT, file),
  );

  it('is built', () => expect(built.length).toBeGreaterThan(0));

  it('imports only along the arrows, and only what its manifest names', () => {
    const manifest = JSON.parse(
      readFileSync(join(ROOT, 'packages', name, 'package.json'), 'utf8'),
    ) as { dependencies?: Record<string, string>; peerDependencies?: Record<string, string> };
    const named = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
    const imported = new Set(
      built
        .flatMap(specifiersOf)
        .filter((specifier) => !specifier.startsWith('.') && !specifier.startsWith('node:'))
        .map((specifier) =>
          specifier
            .split('/')
            .slice(0, specifier.startsWith('@') ? 2 : 1)
            .join('/'),
        ),
    );
    expect([...imported].filter((specifier) => !named.includes(specifier))).toEqual([]);
    const siblings = named.filter((specifier) => specifier.startsWith('@carrel/'));
    expect(siblings.map((specifier) => specifier.slice('@carrel/'.length)).toSorted()).toEqual(
      [...allowed].toSorted(),
    );
  });

  it('never imports its own barrel from inside', () => {
    const own = built.flatMap((file) =>
      specifiersOf(file).map((specifier) => resolve(specifier, file)),
    );
    expect(own.filter((file) => file === join(ROOT, 'packages', name, 'dist/index.js'))).toEqual(
      [],
    );
  });
});

it('every export of every package is there', () => {
  for (const name of Object.keys(ARROWS)) {
    const directory = join(ROOT, 'packages', name);
    const { exports } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as {
      exports: Record<string, Record<string, string>>;
    };
    for (const target of Object.values(exports).flatMap((conditions) =>
      Object.values(conditions),
    )) {
      expect(existsSync(join(directory, target)), `${name} ${target}`).toBe(true);
    }
  }
});
