// `npm run demo:code`: an agent in code mode on a real directory.

import { createWorkerRuntime } from '@carrel/code-runtime-worker';
import { createAgent, jsonlEventStore, type SystemPromptSection } from '@carrel/harness';
import { ToolsRegistry, type ToolMode } from '@carrel/tools-registry';
import { chooseModel, type ChosenModel } from './choose-model.ts';
import { recordRequests } from './measure-requests.ts';
import { type DemoOptions, HELP, readOptions, UsageError } from './options.ts';
import { METHOD, type Receipt, writeReceipt } from './receipt.ts';
import { TASK } from './scripted-programs.ts';
import { Show } from './show.ts';
import { openDirectories } from './workspace.ts';
import { workspaceTools } from './workspace-tools.ts';

const PERSONA: SystemPromptSection = {
  name: 'persona',
  block: 'stable',
  text: 'You work on the files of one directory. Do all you can in one program, and say briefly what came of it.',
};

/** Something that was asked for did not work out; the message is one line. */
class DemoError extends Error {
  override readonly name = 'DemoError';
}

async function run(options: DemoOptions): Promise<void> {
  const chosen = await chooseModel(process.env, options.model);
  if (chosen.scripted && (options.task ?? options.model) !== undefined) {
    throw new UsageError('--task and --model need a real model: set the key of a provider');
  }
  const task = options.task ?? TASK;
  const { workspace, sessions } = await openDirectories(options.workspace);
  const show = options.json ? undefined : new Show(process.stdout, process.stderr);
  show?.line(chosen.description);
  show?.line(`Workspace: ${workspace}`);
  show?.line(`Task: ${task}\n`);

  const runtime = await createWorkerRuntime();
  try {
    const tools = registryOf(workspace, 'code', { runtime });
    const { model, requests } = recordRequests(chosen.model);
    const agent = await createAgent({
      model,
      tools,
      store: jsonlEventStore({ directory: sessions }),
      sections: [PERSONA],
      onEvent: (event) => show?.event(event),
    });
    const onInterrupt = (): void => agent.cancel('interrupted from the keyboard');
    process.once('SIGINT', onInterrupt);
    const reason = await agent.send(task);
    process.off('SIGINT', onInterrupt);
    const { events, logLocation } = agent;
    await agent.dispose();

    if (reason.type === 'error') throw new DemoError(reason.message);
    if (reason.type !== 'completed') throw new DemoError(`The turn ended early: ${reason.type}`);
    const native = registryOf(workspace, 'native').present().wireTools;
    const receipt = writeReceipt(task, requests, events, [PERSONA.text], native);
    if (show === undefined) printJson(chosen, workspace, events, receipt, logLocation);
    else {
      show.line();
      show.receipt(receipt);
      show.line(`Session log: ${logLocation}`);
    }
  } finally {
    await runtime.dispose();
  }
}

function registryOf(
  workspace: string,
  mode: ToolMode,
  options: ConstructorParameters<typeof ToolsRegistry>[0] = {},
): ToolsRegistry {
  const registry = new ToolsRegistry({ mode, ...options });
  for (const tool of workspaceTools(workspace)) registry.register(tool);
  return registry;
}

function printJson(
  { model, scripted }: ChosenModel,
  workspace: string,
  events: Awaited<ReturnType<typeof createAgent>>['events'],
  receipt: Receipt,
  sessionLog: string,
): void {
  const programs: unknown[] = [];
  const calls: unknown[] = [];
  let answer = '';
  for (const { type, data } of events) {
    if (type === 'tool/call') programs.push((data.arguments as { code?: unknown }).code);
    if (type === 'tool/code-dispatch' && data.phase === 'settle') {
      const { toolName, outcome, durationMs } = data;
      calls.push({ toolName, outcome, durationMs });
    }
    if (type === 'assistant/message') {
      answer = data.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
    }
  }
  const document = {
    model: model.id,
    scripted,
    workspace,
    answer,
    programs,
    calls,
    receipt: { ...receipt, method: METHOD },
    sessionLog,
  };
  process.stdout.write(`${JSON.stringify(document, undefined, 2)}\n`);
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // Whoever read along has gone; there is nobody to tell.
  if (error.code !== 'EPIPE') process.stderr.write(`The output cannot be written: ${error.code}\n`);
  process.exit(1);
});

try {
  const options = readOptions(process.argv.slice(2));
  if (options.help) process.stdout.write(HELP);
  else await run(options);
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${(message.split('\n')[0] ?? '').trim()}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
