import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core';
import type { GuestModules } from '../guest-modules.ts';
import { GuestMemory } from './guest-memory.ts';
import { readSlice, type Engine, type Guest, type GuestOptions, type SliceEnd } from './engine.ts';

/** Past this the engine throws by itself; past about twice as much, Node does, and the engine is lost. */
const STACK_BYTES = 256 * 1024;

/**
 * QuickJS compiled to WebAssembly: slower, and at home wherever Node is. Each guest is an instance
 * of its own, with a memory that cannot grow past its limit: the engine's own limit does not bound
 * what it takes.
 */
export async function loadQuickjs(modules: GuestModules): Promise<Engine> {
  const { default: variant } = await import('@jitl/quickjs-ng-wasmfile-release-sync');
  return {
    name: 'quickjs',
    createGuest: async (options) => {
      const memory = new GuestMemory(options.memoryBytes);
      const library = await newQuickJSWASMModuleFromVariant(
        newVariant(variant as unknown as QuickJSSyncVariant, { wasmMemory: memory.wasmMemory }),
      );
      return new QuickjsGuest(library, memory, modules, options);
    },
  };
}

class QuickjsGuest implements Guest {
  readonly #memory: GuestMemory;
  readonly #runtime: QuickJSRuntime;
  readonly #context: QuickJSContext;
  readonly #start: QuickJSHandle;
  readonly #settle: QuickJSHandle;
  readonly #report: QuickJSHandle;
  #computedMs = 0;
  #deadline = Infinity;
  #interrupted = false;

  constructor(
    library: QuickJSWASMModule,
    memory: GuestMemory,
    modules: GuestModules,
    options: GuestOptions,
  ) {
    this.#memory = memory;
    this.#runtime = library.newRuntime();
    this.#runtime.setMaxStackSize(STACK_BYTES);
    this.#runtime.setInterruptHandler(() => {
      this.#interrupted ||= performance.now() > this.#deadline;
      // Unlike the error that the engine throws, an interrupt cannot be caught by the program.
      return this.#interrupted || this.#memory.exhausted;
    });
    // Open only while the guest is made: to a program no module is ever loaded.
    let sealed = false;
    const refuseWhenSealed = (): void => {
      if (sealed) throw new Error('Modules are not available in a program');
    };
    this.#runtime.setModuleLoader(
      (name) => {
        refuseWhenSealed();
        return modules.sourceOf(name);
      },
      (referrer, specifier) => {
        refuseWhenSealed();
        return modules.resolve(specifier, referrer).name;
      },
    );
    this.#context = this.#runtime.newContext();
    const context = this.#context;
    const notice = context.newFunction('notice', (kind, text) => {
      // The guest's own module calls it, with these two kinds and a string.
      options.notice(context.getString(kind) as 'log' | 'limit', context.getString(text));
    });
    context.setProp(context.global, 'carrelNotice', notice);
    notice.dispose();
    const entry = context.unwrapResult(
      context.evalCode(modules.entry.source, modules.entry.name, { type: 'module' }),
    );
    this.#start = context.getProp(entry, 'start');
    this.#settle = context.getProp(entry, 'settle');
    this.#report = context.getProp(entry, 'report');
    entry.dispose();
    sealed = true;
  }

  start(optionsText: string, cpuMs: number): SliceEnd {
    return this.#slice(this.#start, optionsText, cpuMs);
  }

  settle(batchText: string, cpuMs: number): SliceEnd {
    return this.#slice(this.#settle, batchText, cpuMs);
  }

  cpuMs(): number {
    return this.#computedMs;
  }

  dispose(): void {
    for (const handle of [this.#start, this.#settle, this.#report]) handle.dispose();
    this.#context.dispose();
    this.#runtime.dispose();
  }

  #slice(entry: QuickJSHandle, text: string, cpuMs: number): SliceEnd {
    const began = performance.now();
    this.#deadline = began + cpuMs;
    try {
      this.#call(entry, text).dispose();
      this.#runJobs();
      if (this.#memory.exhausted) return { ended: this.#explain(undefined) };
      using answer = this.#call(this.#report, '');
      return readSlice(this.#context.getString(answer));
    } catch (error) {
      return { ended: this.#explain(error) };
    } finally {
      this.#computedMs += performance.now() - began;
      this.#deadline = Infinity;
    }
  }

  #call(entry: QuickJSHandle, text: string): QuickJSHandle {
    const context = this.#context;
    using argument = context.newString(text);
    return context.unwrapResult(context.callFunction(entry, context.undefined, argument));
  }

  #runJobs(): void {
    const result = this.#runtime.executePendingJobs();
    if (result.error !== undefined) {
      using reason = result.error;
      throw new Error(String(this.#context.dump(reason)));
    }
    if (this.#interrupted) throw new Error('interrupted');
  }

  #explain(error: unknown): Extract<SliceEnd, { ended: unknown }>['ended'] {
    if (this.#interrupted) {
      return { kind: 'cpu-limit', message: 'The program computed for too long' };
    }
    if (this.#memory.exhausted) {
      return { kind: 'memory-limit', message: 'The program used too much memory' };
    }
    if (error instanceof RangeError) {
      // The engine's own recursion went deeper than this process's stack.
      return { kind: 'exception', message: 'The program recursed too deep' };
    }
    return { kind: 'worker-crash', message: 'The engine failed' };
  }
}
