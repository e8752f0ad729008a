import { nearestName } from '../nearest-name.ts';
import { memberAccess } from '../presentation/escape-text.ts';
import { RUN_CODE, TOOLS_GLOBAL } from '../presentation/render-sdk.ts';
import { errorResult } from '../tool-result.ts';
import type { ToolResult } from '../tool-result.ts';

/** Tools that the error for an unknown name lists. */
const MAX_LISTED_TOOLS = 20;
/** Characters of an unknown name that are told. */
const MAX_NAME_LENGTH = 128;

/** The failed call of a tool that does not exist: with the nearest name, else with what there is. */
export function unknownTool(name: string, known: readonly string[]): ToolResult {
  const nearest = nearestName(name, known);
  const more = known.length > MAX_LISTED_TOOLS ? ', …' : '';
  const list = known.toSorted().slice(0, MAX_LISTED_TOOLS).join(', ');
  const hint =
    nearest === undefined
      ? `The tools are: ${list}${more}.`
      : `Did you mean ${JSON.stringify(nearest)}?`;
  const shown = JSON.stringify(name.slice(0, MAX_NAME_LENGTH));
  return errorResult('UNKNOWN_TOOL', `There is no tool ${shown}. ${hint}`);
}

/** The failed call of a tool that exists, but only for programs: with the route. */
export function notAdvertised(name: string): ToolResult {
  return errorResult(
    'TOOL_NOT_ADVERTISED',
    `${JSON.stringify(name)} cannot be called directly: call it from ${RUN_CODE} as ${memberAccess(TOOLS_GLOBAL, name)}(…).`,
  );
}
