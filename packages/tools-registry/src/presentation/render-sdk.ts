import type { Tool } from '../tool.ts';
import { commentText, memberName } from './escape-text.ts';
import { parameterDocs } from './parameter-docs.ts';
import { schemaToType } from './schema-to-type.ts';
import type { ToolMode } from './tool-presentation.ts';

/** Characters of a tool's description that are shown. */
const MAX_DESCRIPTION_LENGTH = 8_000;

/** The name of the one tool that programs are sent to. */
export const RUN_CODE = 'run_code';
/** The global that a program finds the tools under. */
export const TOOLS_GLOBAL = 'tools';
/** The class of errors that a failed call throws in a program, and its member with the tool's name. */
export const TOOL_CALL_ERROR = { name: 'ToolCallError', memberProperty: 'toolName' } as const;

/**
 * The section of a system prompt that teaches a model to write programs against `tools`: the rules
 * and one fence of declarations. The same bytes for the same tools, in whatever order they come.
 */
export function renderSdk(tools: readonly Tool[], mode: Exclude<ToolMode, 'native'>): string {
  const both =
    mode === 'both'
      ? '\n- Every tool can also be called directly. Prefer a program as soon as a task takes several calls, or a result is larger than what you need of it.'
      : '';
  return `# Tools as a TypeScript SDK

Tools are called from TypeScript programs. Send a program to \`${RUN_CODE}\`; it runs at once, in a sandbox.

- A program is the body of an async function: \`await\` and \`return\` work at the top level. Imports do not; the built-ins of JavaScript and \`${TOOLS_GLOBAL}\` are all there is (no file system, no network, no \`fetch\`).
- You read only what the program returns or logs. Select, join and count in the program, and return just what you need.
- Every call takes one object and must be awaited. Calls run in the order in which the program makes them, also under \`Promise.all\`.
- A call that fails throws a \`ToolCallError\`; catch it where the program can go on without the result.
- Nothing is kept from one program to the next, except what the calls did: calls that are done stay done when the program fails later.${both}

\`\`\`ts
${renderDeclarations(tools)}
\`\`\``;
}

/** The TypeScript declarations of what a program finds, by themselves. */
export function renderDeclarations(tools: readonly Tool[]): string {
  const members = sortedByName(tools).map(member).join('\n');
  const { name, memberProperty } = TOOL_CALL_ERROR;
  return `declare class ${name} extends Error { ${memberProperty}: string; code?: string }
declare const ${TOOLS_GLOBAL}: {${members === '' ? '' : `\n${members}\n`}};`;
}

/** One line of TypeScript that says how to call a tool: `add(input: { a: number }): Promise<number>`. */
export function toolSignature(tool: Tool): string {
  const { type } = schemaToType(tool.inputSchema);
  // Arguments are always an object, whatever else the schema would let pass.
  const input = type === 'unknown' ? '{ [key: string]: unknown }' : type;
  const output = tool.outputSchema === undefined ? 'unknown' : schemaToType(tool.outputSchema).type;
  const mark = needsNoArgument(tool.inputSchema) ? '?' : '';
  // `new(…)` would declare a constructor.
  const name = tool.name === 'new' ? '"new"' : memberName(tool.name);
  return `${name}(input${mark}: ${input}): Promise<${output}>`;
}

/** The tools in the one order in which they are ever shown. */
export function sortedByName<Named extends { readonly name: string }>(
  tools: readonly Named[],
): readonly Named[] {
  // By code unit: a locale's order differs from machine to machine.
  return tools.toSorted((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
}

function member(tool: Tool): string {
  const description = commentText(tool.description, MAX_DESCRIPTION_LENGTH);
  const lines = [...(description === '' ? [] : [description]), ...parameterDocs(tool.inputSchema)];
  const signature = `  ${toolSignature(tool)};`;
  if (lines.length === 0) return signature;
  if (lines.length === 1) return `  /** ${lines[0]} */\n${signature}`;
  return `  /**\n${lines.map((line) => `   * ${line}`).join('\n')}\n   */\n${signature}`;
}

/** Whether `{}` passes for certain, as far as one level of the schema tells. */
function needsNoArgument(schema: Tool['inputSchema']): boolean {
  if (typeof schema === 'boolean') return schema;
  const composed = [
    '$ref',
    'allOf',
    'anyOf',
    'oneOf',
    'not',
    'if',
    'minProperties',
    'const',
    'enum',
  ];
  if (composed.some((keyword) => Object.hasOwn(schema, keyword))) return false;
  return !Array.isArray(schema['required']) || schema['required'].length === 0;
}
