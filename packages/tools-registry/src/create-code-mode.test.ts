import { describe, expect, it } from 'vitest';
import { createCodeMode } from './create-code-mode.ts';
import type { CodeModeEvent } from './create-code-mode.ts';
import { ScriptedRuntime } from './testing/scripted-runtime.ts';
import { defineTool } from './tool.ts';

const add = defineTool<{ a: number; b: number }>({
  name: 'add',
  description: 'Adds.',
  inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } },
  execute: ({ a, b }) => a + b,
});
const runtime = new ScriptedRuntime(async ({ tools, log }) => {
  log('adding');
  return (await tools['add']?.({ a: 1, b: 2 })) ?? null;
});

describe('createCodeMode', () => {
  it('gives a loop of its own one tool and one section', async () => {
    const { tool, systemPrompt } = createCodeMode({ tools: [add], runtime });
    expect(tool.name).toBe('run_code');
    expect(systemPrompt).toContain('add(input?: { a?: number; b?: number })');
    const result = await tool.execute({ code: 'return tools.add({ a: 1, b: 2 })' });
    expect(result.content).toEqual([{ type: 'text', text: '3\n\nLogs:\nadding' }]);
  });

  it('tells what happens inside a call', async () => {
    const events: CodeModeEvent[] = [];
    const onEvent = (event: CodeModeEvent) => void events.push(event);
    await createCodeMode({ tools: [add], runtime, onEvent }).tool.execute({ code: 'x' });
    expect(
      events.map((event) => (event.type === 'code-dispatch' ? event.dispatch.phase : event.type)),
    ).toEqual(['log', 'start', 'settle']);
  });

  it('refuses a bad tool set at once', () => {
    expect(() => createCodeMode({ tools: [add, add], runtime })).toThrow(/already registered/);
    expect(() => createCodeMode({ tools: [add], runtime: undefined as never })).toThrow(
      /`runtime`/,
    );
  });

  it('carries out direct calls in mode both, and follows the signal', async () => {
    const { execute, tools } = createCodeMode({ tools: [add], runtime, mode: 'both' });
    expect(tools.present().wireTools.map(({ name }) => name)).toEqual(['add', 'run_code']);
    const call = { name: 'add', arguments: { a: 2, b: 3 } };
    expect((await execute(call)).value).toBe(5);
    expect((await execute(call, { signal: AbortSignal.abort() })).error?.code).toBe('TOOL_ABORTED');
  });
});
