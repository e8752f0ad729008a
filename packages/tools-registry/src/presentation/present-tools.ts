import type { Tool } from '../tool.ts';
import { renderSdk, sortedByName } from './render-sdk.ts';
import type { ToolMode, ToolPresentation, WireTool } from './tool-presentation.ts';

/**
 * What a model is shown of a tool set.
 *
 * @param tools - the tools of the set, without `run_code`, in any order
 * @param runCode - the tool that programs are sent to; goes on the wire in all modes but `native`
 */
export function presentTools(
  tools: readonly Tool[],
  mode: ToolMode,
  runCode: WireTool,
): ToolPresentation {
  switch (mode) {
    case 'native':
      return { mode, wireTools: sortedByName(tools).map(wireTool) };
    case 'code':
      return { mode, wireTools: [wireTool(runCode)], promptSection: renderSdk(tools, mode) };
    case 'both':
      return {
        mode,
        wireTools: sortedByName([...tools, runCode]).map(wireTool),
        promptSection: renderSdk(tools, mode),
      };
  }
}

function wireTool({ name, description, inputSchema }: WireTool): WireTool {
  return { name, description, inputSchema };
}
