/** Where the report goes, in the workspace. */
export const REPORT = 'doc-comment-report.md';

/** The task that the scripted model knows. */
export const TASK = `Which exported names of the TypeScript sources lack a doc comment? Write ${REPORT} with a section for each package, tests left out, and tell me the totals.`;

/** Reads every source, finds the exports, and writes the report. */
export const SURVEY = `// The package of a file is the nearest directory above it that has a package.json.
const files = await tools.list_files({});
const roots = files
  .filter((path) => path.endsWith('package.json'))
  .map((path) => path.slice(0, -'package.json'.length))
  .sort((a, b) => b.length - a.length);
const packageOf = (path: string): string =>
  (roots.find((root) => path.startsWith(root)) ?? '').replace(/\\/$/, '') || '(workspace)';

const sources = files.filter((path) => /\\.m?ts$/.test(path) && !/\\.(test|d)\\.m?ts$/.test(path));
const texts: string[] = [];
for (let first = 0; first < sources.length; first += 100) {
  const some = sources.slice(first, first + 100);
  texts.push(...(await Promise.all(some.map((path) => tools.read_file({ path })))));
}

interface Export { name: string; path: string; line: number; documented: boolean }
const EXPORT = /^export (?:declare )?(?:abstract )?(?:async )?(?:function\\*?|class|interface|type|const|let|enum) ([\\w$]+)/;
const byPackage = new Map<string, Export[]>();
sources.forEach((path, index) => {
  const lines = texts[index].split('\\n');
  const found = byPackage.get(packageOf(path)) ?? [];
  lines.forEach((text, at) => {
    const name = EXPORT.exec(text)?.[1];
    if (name === undefined) return;
    let above = at - 1;
    while (above >= 0 && /^\\s*(@.*)?$/.test(lines[above])) above -= 1;
    // Where the comment that ends above begins: only one that begins with \`/**\` is a doc comment.
    let start = above;
    const commented = (lines[above] ?? '').trimEnd().endsWith('*/');
    while (commented && start > 0 && !/^\\s*\\/\\*/.test(lines[start])) start -= 1;
    const documented = commented && /^\\s*\\/\\*\\*/.test(lines[start]);
    found.push({ name, path, line: at + 1, documented });
  });
  if (found.length > 0) byPackage.set(packageOf(path), found);
});

const packages = [...byPackage].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, exports]) => ({
  name,
  exports: exports.length,
  missing: exports.filter(({ documented }) => !documented),
}));
const report = packages.map(({ name, exports, missing }) => [
  \`## \${name}\`,
  '',
  \`\${missing.length} of \${exports} exported names lack a doc comment.\`,
  '',
  ...missing.map((e) => \`- \\\`\${e.name}\\\` (\${e.path}:\${e.line})\`),
  '',
].join('\\n'));
await tools.write_file({ path: '${REPORT}', text: ['# Exported names without a doc comment', '', ...report].join('\\n') });

return {
  sources: sources.length,
  exports: packages.reduce((sum, { exports }) => sum + exports, 0),
  missing: packages.reduce((sum, { missing }) => sum + missing.length, 0),
  packages: packages.map(({ name, exports, missing }) => ({ name, exports, missing: missing.length })),
};`;

/** Reads the report back and looks up what it says. */
export const CHECK = `const report = await tools.read_file({ path: '${REPORT}' });
const entries = [...report.matchAll(/^- \`([\\w$]+)\` \\((.+):(\\d+)\\)$/gm)];
const wrong: string[] = [];
const sources = new Map<string, string[]>();
for (const [entry, name, path, line] of entries) {
  if (!sources.has(path)) sources.set(path, (await tools.read_file({ path })).split('\\n'));
  const text = sources.get(path)?.[Number(line) - 1] ?? '';
  if (!text.startsWith('export ') || !text.includes(name)) wrong.push(entry);
}
console.log(\`looked up \${entries.length} entries in \${sources.size} files\`);
return { entries: entries.length, wrong };`;
