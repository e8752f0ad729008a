import { parentPort } from 'node:worker_threads';
import { prepareProgram, type PreparedProgram } from '@carrel/code-runtime/program';

/** What the thread is asked. */
export interface PrepareQuestion {
  readonly id: number;
  readonly program: string;
}

/** What the thread answers; `problem` when the parser itself gave up. */
export type PrepareAnswer =
  | { readonly id: number; readonly prepared: PreparedProgram }
  | { readonly id: number; readonly problem: string };

function answer({ id, program }: PrepareQuestion): PrepareAnswer {
  try {
    return { id, prepared: prepareProgram(program) };
  } catch (error) {
    return {
      id,
      problem: error instanceof RangeError ? 'it nests too deep' : 'it cannot be parsed',
    };
  }
}

// Loaded as a thread, so there is a parent.
const port = parentPort!;
port.on('message', (question: PrepareQuestion) => port.postMessage(answer(question)));
