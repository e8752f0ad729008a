const MIB = 1024 * 1024;
/** What the engine itself takes beside the program, in bytes. */
const ENGINE_BYTES = 16 * MIB;
const PAGE_BYTES = 65_536;

/** The part of `WebAssembly.Memory` that is used here; Node's types do not have it. */
interface WasmMemory {
  grow(pages: number): number;
}
type WasmMemoryClass = new (limits: {
  readonly initial: number;
  readonly maximum: number;
}) => WasmMemory;

/** The memory of one WebAssembly guest: it cannot grow past its limit, and says when it would have. */
export class GuestMemory {
  readonly wasmMemory: never;
  #exhausted = false;

  /** @param bytes - what the program may take */
  constructor(bytes: number) {
    const { Memory } = (globalThis as unknown as { WebAssembly: { Memory: WasmMemoryClass } })
      .WebAssembly;
    const memory = new Memory({
      initial: ENGINE_BYTES / PAGE_BYTES,
      maximum: Math.ceil((ENGINE_BYTES + bytes) / PAGE_BYTES),
    });
    const grow = memory.grow.bind(memory);
    // The engine's glue asks for more than it needs, and for less when that is refused: the last
    // answer is the one that counts.
    memory.grow = (pages) => {
      this.#exhausted = true;
      const before = grow(pages);
      this.#exhausted = false;
      return before;
    };
    // The library names a type here that only browsers' type definitions have.
    this.wasmMemory = memory as never;
  }

  /** Whether the guest was last refused what it asked for. */
  get exhausted(): boolean {
    return this.#exhausted;
  }
}
