import type { JsonSchema } from '../schema/json-schema.ts';
import { resolvePointer } from '../schema/json-pointer.ts';
import { commentText, memberAccess } from './escape-text.ts';

/** Characters of one parameter's doc that are shown. */
const MAX_DOC_LENGTH = 2_000;
/** Levels of members that are documented, the arguments' own being the first. */
const MAX_DEPTH = 5;
/** Lines of one tool; a schema beyond it is a program of its own. */
const MAX_LINES = 300;
/** Constraints that a type cannot say. */
const CONSTRAINTS = [
  'format pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf',
  'minLength maxLength minItems maxItems default',
].flatMap((line) => line.split(' '));

/**
 * One `@param` line for each member of the arguments that has something to say besides its type:
 * a description, a default, a bound.
 */
export function parameterDocs(schema: JsonSchema): readonly string[] {
  const lines: string[] = [];
  collect(schema, { root: schema, path: 'input', depth: 0, seen: ['#'] }, lines);
  return lines.slice(0, MAX_LINES);
}

interface Place {
  readonly root: unknown;
  /** How a program reaches it: `input.filter.since`. */
  readonly path: string;
  readonly depth: number;
  /** References on the way, so that a recursive schema ends. */
  readonly seen: readonly string[];
}

function collect(schema: unknown, place: Place, lines: string[]): void {
  if (!isRecord(schema) || place.depth > MAX_DEPTH || lines.length > MAX_LINES) return;
  const doc = docOf(schema);
  if (doc !== '' && place.depth > 0) {
    lines.push(`@param ${commentText(place.path, MAX_DOC_LENGTH)} - ${doc}`);
  }
  const { $ref, properties, items } = schema;
  if (typeof $ref === 'string' && !place.seen.includes($ref)) {
    const seen = [...place.seen, $ref];
    collect(resolvePointer(place.root, $ref), { ...place, seen }, lines);
  }
  const depth = place.depth + 1;
  for (const [name, property] of isRecord(properties) ? Object.entries(properties) : []) {
    collect(property, { ...place, path: memberAccess(place.path, name), depth }, lines);
  }
  if (isRecord(items)) collect(items, { ...place, path: `${place.path}[]`, depth }, lines);
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    const alternatives = schema[keyword];
    // A level of its own, which also ends alternatives within alternatives.
    for (const item of Array.isArray(alternatives) ? alternatives : []) {
      collect(item, { ...place, depth }, lines);
    }
  }
}

function docOf(schema: Record<string, unknown>): string {
  const { description } = schema;
  const constraints = CONSTRAINTS.filter((keyword) => isScalar(schema[keyword])).map(
    (keyword) => `${keyword} ${JSON.stringify(schema[keyword])}`,
  );
  const parts = [
    ...(typeof description === 'string' ? [description.trim()] : []),
    ...(constraints.length > 0 ? [`(${constraints.join(', ')})`] : []),
  ];
  return commentText(parts.join(' '), MAX_DOC_LENGTH);
}

function isScalar(value: unknown): boolean {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
