import type ivm from 'isolated-vm';
import type { GuestModule, GuestModules } from '../guest-modules.ts';
import { readSlice, type Engine, type Guest, type GuestOptions, type SliceEnd } from './engine.ts';

const MIB = 1024 * 1024;
const NANOSECONDS_PER_MILLISECOND = 1e6;
const TIMER_SLACK_MS = 2;

/**
 * V8 isolates, driven synchronously on this thread: the guest is quiet whenever a call into it has
 * returned. Whatever goes wrong beyond the engine's own limits takes this process with it, so it
 * must be one that may be lost.
 *
 * @throws whatever the loader throws where isolated-vm has no binary for this Node
 */
export async function loadIsolatedVm(modules: GuestModules): Promise<Engine> {
  const { default: library } = await import('isolated-vm');
  return {
    name: 'isolated-vm',
    createGuest: async (options) => new IsolatedVmGuest(library, modules, options),
  };
}

type Entry = ivm.Reference<(text: string) => string | undefined>;

class IsolatedVmGuest implements Guest {
  readonly #isolate: ivm.Isolate;
  readonly #start: Entry;
  readonly #settle: Entry;
  readonly #report: Entry;
  readonly #cpuAtStart: bigint;
  #cpuNow: bigint;
  /** What the last call into the guest answered. */
  #answer: string | undefined;

  constructor(library: typeof ivm, modules: GuestModules, options: GuestOptions) {
    this.#isolate = new library.Isolate({ memoryLimit: Math.ceil(options.memoryBytes / MIB) });
    const context = this.#isolate.createContextSync();
    context.global.setSync('carrelNotice', new library.Callback(options.notice));
    const compiled = new Map<string, ivm.Module>();
    const names = new Map<ivm.Module, string>();
    const compile = ({ name, source }: GuestModule): ivm.Module => {
      const known = compiled.get(name);
      if (known !== undefined) return known;
      const module = this.#isolate.compileModuleSync(source, { filename: name });
      compiled.set(name, module);
      names.set(module, name);
      return module;
    };
    const entry = compile(modules.entry);
    entry.instantiateSync(context, (specifier, referrer) =>
      compile(modules.resolve(specifier, names.get(referrer) ?? modules.entry.name)),
    );
    entry.evaluateSync();
    const exported = (name: string): Entry =>
      entry.namespace.getSync(name, { reference: true }) as Entry;
    this.#start = exported('start');
    this.#settle = exported('settle');
    this.#report = exported('report');
    this.#cpuAtStart = this.#isolate.cpuTime;
    this.#cpuNow = this.#cpuAtStart;
  }

  start(optionsText: string, cpuMs: number): SliceEnd {
    return this.#slice(this.#start, optionsText, cpuMs);
  }

  settle(batchText: string, cpuMs: number): SliceEnd {
    return this.#slice(this.#settle, batchText, cpuMs);
  }

  cpuMs(): number {
    // Past its memory limit an isolate is disposed, and no longer says what it has computed.
    if (!this.#isolate.isDisposed) this.#cpuNow = this.#isolate.cpuTime;
    return Number(this.#cpuNow - this.#cpuAtStart) / NANOSECONDS_PER_MILLISECOND;
  }

  dispose(): void {
    if (!this.#isolate.isDisposed) this.#isolate.dispose();
  }

  #slice(entry: Entry, text: string, cpuMs: number): SliceEnd {
    const timeout = Math.max(1, Math.ceil(cpuMs));
    return (
      this.#call(entry, text, timeout).ended ??
      this.#call(this.#report, '', timeout).ended ??
      this.#lastReport()
    );
  }

  /**
   * Calls into the guest until it is quiet.
   *
   * What is thrown then is the engine's own ending, or a promise that was rejected while nobody
   * listened. The latter is no reason to end the program, and its text is the program's: what
   * happened is told from the isolate and the clock alone.
   */
  #call(entry: Entry, text: string, timeout: number): { readonly ended?: SliceEnd } {
    const began = performance.now();
    try {
      this.#answer = entry.applySync(undefined, [text], { timeout });
      return {};
    } catch {
      this.#answer = undefined;
      if (this.#isolate.isDisposed) {
        return {
          ended: { ended: { kind: 'memory-limit', message: 'The program used too much memory' } },
        };
      }
      // The timer may fire a little early by this clock.
      return performance.now() - began >= timeout - TIMER_SLACK_MS
        ? { ended: { ended: { kind: 'cpu-limit', message: 'The program computed for too long' } } }
        : {};
    }
  }

  #lastReport(): SliceEnd {
    return this.#answer === undefined
      ? { ended: { kind: 'worker-crash', message: 'The engine failed' } }
      : readSlice(this.#answer);
  }
}
