import { charCodeAt } from './intrinsics.ts';

/** The bytes of `text` as UTF-8; a lone surrogate counts as the three bytes of its replacement. */
export function byteLength(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const unit = charCodeAt(text, index);
    if (unit > 0x7f) bytes += unit > 0x7ff ? 2 : 1;
    // A pair is four bytes: two units, and the two added for its first.
    if (unit >= 0xd800 && unit < 0xdc00) {
      const next = charCodeAt(text, index + 1);
      if (next >= 0xdc00 && next < 0xe000) index += 1;
    }
  }
  return bytes;
}
