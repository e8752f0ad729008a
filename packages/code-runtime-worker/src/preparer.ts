import { Worker } from 'node:worker_threads';
import type { PreparedProgram } from '@carrel/code-runtime/program';
import type { PrepareAnswer, PrepareQuestion } from './prepare-thread.ts';

/** Milliseconds that one program may take to parse, from when the thread takes it up. */
const PREPARE_TIMEOUT_MS = 5_000;
/** Heap of the thread in MiB: the parser reads hostile text. */
const HEAP_MIB = 512;

interface Waiting {
  readonly question: PrepareQuestion;
  readonly resolve: (prepared: PreparedProgram) => void;
}

function refused(problem: string): PreparedProgram {
  return { failure: { kind: 'syntax', message: `The program was refused: ${problem}` } };
}

/**
 * Prepares programs on a thread of its own, one after the other, so that no program's text can hold
 * up the host. A program that takes the thread down with it is refused; the others are not touched.
 */
export class Preparer {
  /** By id, in order: the thread works on the first. */
  readonly #waiting = new Map<number, Waiting>();
  #thread: Worker | undefined;
  #timeout: NodeJS.Timeout | undefined;
  #lastId = 0;
  #disposed = false;

  constructor() {
    // Before anybody asks: it takes a while to load.
    this.#begin();
  }

  /** Makes JavaScript of a program; a parser that overruns or overflows is a `syntax` failure. */
  prepare(program: string): Promise<PreparedProgram> {
    this.#lastId += 1;
    const question: PrepareQuestion = { id: this.#lastId, program };
    return new Promise((resolve) => {
      this.#waiting.set(question.id, { question, resolve });
      const thread = this.#thread ?? this.#begin();
      thread.ref();
      thread.postMessage(question);
      if (this.#waiting.size === 1) this.#timeFirst();
    });
  }

  /** Ends the thread; programs that wait are refused. */
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
    // `exit` follows, and sees to whoever waits.
    thread.on('error', () => {});
    thread.on('exit', () => this.#restart());
    this.#thread = thread;
    return thread;
  }

  /** The thread is gone, and with it the program that it was working on. */
  #restart(): void {
    this.#thread = undefined;
    const [first, ...others] = this.#waiting.keys();
    if (first === undefined) return;
    this.#settle(first, refused('it takes too much time or memory to parse'));
    if (this.#disposed) {
      for (const id of others) this.#settle(id, refused('the runtime is disposed'));
    } else if (others.length > 0) {
      const thread = this.#begin();
      thread.ref();
      for (const { question } of this.#waiting.values()) thread.postMessage(question);
    }
  }

  #settle(id: number, prepared: PreparedProgram): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    this.#timeFirst();
    waiting.resolve(prepared);
  }

  /** Gives the program that is the first now its time; without one, the thread may idle. */
  #timeFirst(): void {
    clearTimeout(this.#timeout);
    // An idle thread does not keep the host alive.
    if (this.#waiting.size === 0) this.#thread?.unref();
    else this.#timeout = setTimeout(() => void this.#thread?.terminate(), PREPARE_TIMEOUT_MS);
  }
}
