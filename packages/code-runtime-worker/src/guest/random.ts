import { charCodeAt, defineGlobal } from './intrinsics.ts';

const { imul } = Math;
const { isView } = ArrayBuffer;
const BytesClass = Uint8Array;

/** Gives whole numbers from 0 to 2^32 - 1. */
type NextWord = () => number;

/** sfc32 by Chris Doty-Humphrey (PractRand). The same seed gives the same numbers in every engine. */
function generator(seed: string): NextWord {
  // FNV-1a, 32 bits, begun differently for each of the four words.
  const hash = (word: number): number => {
    let value = 0x811c9dc5 ^ word;
    for (let index = 0; index < seed.length; index += 1) {
      value = imul(value ^ charCodeAt(seed, index), 0x01000193);
    }
    return value;
  };
  let a = hash(0);
  let b = hash(1);
  let c = hash(2);
  let counter = hash(3);
  const next = (): number => {
    const word = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + word) | 0;
    return word >>> 0;
  };
  for (let round = 0; round < 16; round += 1) next();
  return next;
}

/**
 * Replaces `Math.random` and gives the program a `crypto`, both drawn from the run's seed.
 *
 * @returns how to seed them, once, before the program starts
 */
export function installRandom(): (seed: string) => void {
  let nextWord: NextWord = generator('');

  function getRandomValues<View extends ArrayBufferView>(view: View): View {
    if (!isView(view)) throw new TypeError('crypto.getRandomValues takes a typed array');
    const bytes = new BytesClass(view.buffer, view.byteOffset, view.byteLength);
    for (let index = 0; index < bytes.length; index += 1) bytes[index] = nextWord();
    return view;
  }

  function randomUUID(): string {
    const bytes = getRandomValues(new BytesClass(16));
    let digits = '';
    for (let index = 0; index < 16; index += 1) {
      let byte = bytes[index] as number;
      // Version 4, variant 1 (RFC 9562).
      if (index === 6) byte = (byte & 0x0f) | 0x40;
      if (index === 8) byte = (byte & 0x3f) | 0x80;
      const dash = index === 4 || index === 6 || index === 8 || index === 10;
      digits += `${dash ? '-' : ''}${byte < 16 ? '0' : ''}${byte.toString(16)}`;
    }
    return digits;
  }

  // 53 random bits below 1.
  Math.random = () => (nextWord() * 0x20_0000 + (nextWord() >>> 11)) / 0x20_0000_0000_0000;
  defineGlobal('crypto', { getRandomValues, randomUUID });
  return (seed) => {
    nextWord = generator(seed);
  };
}
