import { parseArgs } from 'node:util';

/** What the command line asked for. */
export interface DemoOptions {
  /** A directory to work in; without one a copy of this repository's sources is made. */
  readonly workspace: string | undefined;
  /** A model of the provider whose key is set. */
  readonly model: string | undefined;
  readonly task: string | undefined;
  readonly json: boolean;
  readonly help: boolean;
}

export const HELP = `Usage: npm run demo:code -- [options]

An agent in code mode works on a real directory: it writes programs against its
tools, and the programs run in an isolate.

Options:
  --workspace DIR  work in DIR, and write the report there (default: a copy of
                   this repository's docs/ and packages/)
  --task TEXT      ask for something else; needs a real model
  --model NAME     a model of the provider whose key is set
  --json           print one JSON document instead
  --help           print this

With ANTHROPIC_API_KEY, OPENAI_API_KEY or DEEPSEEK_API_KEY set a real model
answers; without, a scripted one plays its part against the real tools.

Examples:
  npm run demo:code
  npm run demo:code -- --workspace ../my-project --json
`;

/** The command line makes no sense; the message is one line for whoever typed it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * Reads the command line.
 *
 * @throws UsageError for an unknown flag, a missing value, or a word that belongs to no flag
 */
export function readOptions(args: readonly string[]): DemoOptions {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        workspace: { type: 'string' },
        model: { type: 'string' },
        task: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    const { workspace, model, task, json, help } = values;
    return { workspace, model, task, json, help };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${message.split('. ')[0] ?? message} (--help lists the options)`);
  }
}
