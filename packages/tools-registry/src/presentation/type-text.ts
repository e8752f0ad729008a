/** A piece of a type, with what binds weakest in it: that decides where it needs parentheses. */
export interface TypeText {
  readonly text: string;
  readonly binding: 'atom' | 'intersection' | 'union';
}

/** The type that nothing is known of; adds nothing to an intersection and swallows a union. */
export const UNKNOWN = atom('unknown');
/** The type of no value; swallows an intersection and adds nothing to a union. */
export const NEVER = atom('never');

/** A type that needs no parentheses anywhere. */
export function atom(text: string): TypeText {
  return { text, binding: 'atom' };
}

/** `A | B`, without repetitions. */
export function unionOf(types: readonly TypeText[]): TypeText {
  if (types.some(({ text }) => text === 'unknown')) return UNKNOWN;
  const members = distinct(types.filter(({ text }) => text !== 'never'));
  if (members.length <= 1) return members[0] ?? NEVER;
  return { text: members.map(({ text }) => text).join(' | '), binding: 'union' };
}

/** `A & B`, without repetitions. */
export function intersectionOf(types: readonly TypeText[]): TypeText {
  if (types.some(({ text }) => text === 'never')) return NEVER;
  const members = distinct(types.filter(({ text }) => text !== 'unknown'));
  if (members.length <= 1) return members[0] ?? UNKNOWN;
  const texts = members.map((type) => (type.binding === 'union' ? `(${type.text})` : type.text));
  return { text: texts.join(' & '), binding: 'intersection' };
}

/** The text where only an atom may stand: before `[]` and `?`. */
export function parenthesized({ text, binding }: TypeText): string {
  return binding === 'atom' ? text : `(${text})`;
}

function distinct(types: readonly TypeText[]): readonly TypeText[] {
  return [...new Map(types.map((type) => [type.text, type])).values()];
}
