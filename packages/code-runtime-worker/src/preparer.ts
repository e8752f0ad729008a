import { Worker } from 'node:worker_threads';
import type { PreparedProgram } from '@carrel/code-runtime/program';
import type { PrepareAnswer, PrepareQuestion } from './prepare-thread.ts';

/** Milliseconds that one program may take to parse, behind whatever the thread was asked before. */
const PREPARE_TIMEOUT_MS = 5_000;
/** Heap of the thread in MiB: the parser reads hostile text. */
const HEAP_MIB = 512;

interface Waiting {
  readonly resolve: (prepared: PreparedProgram) => void;
  readonly timeout: NodeJS.Timeout;
}

function refused(problem: string): PreparedProgram {
  return { failure: { kind: 'syntax', message: `The program was refused: ${problem}` } };
}

/** Prepares programs on a thread of its own, so that no program's text can hold up the host. */
export class Preparer {
  readonly #waiting = new Map<number, Waiting>();
  #thread: Worker | undefined;
  #lastId = 0;
  #disposed = false;

  constructor() {
    this.#begin();
  }

  /** Makes JavaScript of a program; a parser that overruns or overflows is a `syntax` failure. */
  prepare(program: string): Promise<PreparedProgram> {
    const thread = this.#thread ?? this.#begin();
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      const timeout = setTimeout(() => void this.#thread?.terminate(), PREPARE_TIMEOUT_MS);
      this.#waiting.set(id, { resolve, timeout });
      thread.ref();
      const question: PrepareQuestion = { id, program };
      thread.postMessage(question);
    });
  }

  /** Ends the thread. */
  async dispose(): Promise<void> {
    this.#disposed = true;
    await this.#thread?.terminate();
  }

  #begin(): Worker {
    const thread = new Worker(new URL('./prepare-thread.js', import.meta.url), {
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    });
    thread.unref();
    thread.on('message', (answer: PrepareAnswer) => {
      this.#settle(answer.id, 'prepared' in answer ? answer.prepared : refused(answer.problem));
    });
    // `exit` follows, and answers whoever waits.
    thread.on('error', () => {});
    thread.on('exit', () => {
      if (this.#thread === thread) this.#thread = undefined;
      for (const id of this.#waiting.keys())
        this.#settle(id, refused('it takes too long to parse'));
      // The next program must not pay for the start.
      if (!this.#disposed) this.#begin();
    });
    this.#thread = thread;
    return thread;
  }

  #settle(id: number, prepared: PreparedProgram): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    clearTimeout(waiting.timeout);
    // An idle thread does not keep the host alive.
    if (this.#waiting.size === 0) this.#thread?.unref();
    waiting.resolve(prepared);
  }
}
