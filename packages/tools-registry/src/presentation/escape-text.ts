// ASCII only: which other letters an identifier may have depends on the engine's Unicode version.
const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

/**
 * Characters that a reader does not see as what they are: controls, bidirectional overrides, tags,
 * line separators; all of them can make text look like other text, or end a line.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;
/** Joiners that emoji and several scripts are written with. */
const JOINERS = new Set(['\u200c', '\u200d']);

/**
 * Text of a stranger as one line that stays inside a block comment and inside a Markdown fence.
 *
 * @param maxLength - characters after which it is cut, with a note of how many are missing
 */
export function commentText(text: string, maxLength: number): string {
  const oneLine = text
    .toWellFormed()
    .replaceAll(HIDDEN, (character) => (JOINERS.has(character) ? character : ' '))
    .replaceAll(/\s+/g, ' ')
    .trim();
  const cut = oneLine.length - maxLength;
  // Cut before escaping: a cut can then never take a backslash from what it protects.
  const kept =
    cut <= 0 ? oneLine : `${oneLine.slice(0, maxLength).toWellFormed()}… (${cut} more characters)`;
  return kept.replaceAll('*/', String.raw`*\/`).replaceAll('```', "'''");
}

/** A TypeScript string literal that means exactly `text` and shows nothing hidden. */
export function stringLiteral(text: string): string {
  return JSON.stringify(text)
    .replaceAll(HIDDEN, unicodeEscape)
    .replaceAll('```', String.raw`\u0060\u0060\u0060`);
}

/** A member name: as it is where it is an identifier, else quoted. */
export function memberName(name: string): string {
  return IDENTIFIER.test(name) ? name : stringLiteral(name);
}

/** How a program reaches a member of `object`: `object.name` or `object["na-me"]`. */
export function memberAccess(object: string, name: string): string {
  return IDENTIFIER.test(name) ? `${object}.${name}` : `${object}[${stringLiteral(name)}]`;
}

function unicodeEscape(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
