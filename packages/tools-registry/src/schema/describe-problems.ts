import type { ErrorObject } from 'ajv/dist/2020.js';
import type { JsonValue } from '@carrel/code-runtime';
import { nearestName } from '../nearest-name.ts';
import { nodeToType } from '../presentation/schema-to-type.ts';
import type { SchemaKeywords, SchemaNode } from './normalize-schema.ts';
import { PROTO_PATTERN } from './normalize-schema.ts';

/** How many problems of one value are told; the rest is counted. */
const MAX_PROBLEMS = 8;
/** Characters of an expectation or a received value that are told. */
const MAX_EXPECTED_LENGTH = 200;
const MAX_RECEIVED_LENGTH = 60;
/** Allowed values that are listed; of more, the nearest and the first ones. */
const MAX_VALUES = 12;

const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;
const ALTERNATIVES = new Set(['anyOf', 'oneOf']);
/** Keywords whose own error only repeats what the errors before it say. */
const SUMMARIES = new Set(['if', 'propertyNames']);

/**
 * Says in one line each what is wrong with `value`: the path, what was expected, what was received.
 *
 * @param errors - what ajv found, with `verbose` on
 * @param root - the schema it was found with, which holds the definitions
 */
export function describeProblems(
  errors: readonly ErrorObject[],
  value: JsonValue,
  root: SchemaNode,
): readonly string[] {
  const lines = [...new Set(withoutBranches(errors).map((error) => line(error, value, root)))];
  const more = lines.length - MAX_PROBLEMS;
  return more <= 0 ? lines : [...lines.slice(0, MAX_PROBLEMS), `… and ${more} more problems`];
}

/**
 * Of a failed `anyOf`, either its one most promising alternative speaks (the value got past its
 * outermost level there), or the `anyOf` as a whole; never every alternative.
 */
function withoutBranches(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  let kept: ErrorObject[] = [];
  for (const error of errors) {
    if (SUMMARIES.has(error.keyword) && kept.length > 0) continue;
    if (!ALTERNATIVES.has(error.keyword)) {
      kept.push(error);
      continue;
    }
    // The errors of the alternatives stand directly before the one of the `anyOf`.
    const start = kept.findLastIndex((earlier) => !isBranchOf(earlier, error)) + 1;
    const branches = kept.slice(start);
    kept = kept.slice(0, start);
    const inside = branches.filter((branch) => isInside(branch, error));
    kept.push(...(inside.length > 0 && !closedByKind(branches, error) ? inside : [error]));
  }
  return kept;
}

function isBranchOf(earlier: ErrorObject, alternatives: ErrorObject): boolean {
  const viaReference = earlier.schemaPath.startsWith('#/$defs/');
  return (
    earlier.instancePath.startsWith(alternatives.instancePath) &&
    (viaReference || earlier.schemaPath.startsWith(`${alternatives.schemaPath}/`))
  );
}

/** Whether the value was of the right kind there, and something in it was wrong. */
function isInside(branch: ErrorObject, alternatives: ErrorObject): boolean {
  return (
    branch.instancePath.length > alternatives.instancePath.length ||
    ['required', 'additionalProperties', 'unevaluatedProperties'].includes(branch.keyword)
  );
}

/** Whether several alternatives took the value to pieces: then no single one was meant for certain. */
function closedByKind(branches: readonly ErrorObject[], alternatives: ErrorObject): boolean {
  const names = branches
    .filter((branch) => isInside(branch, alternatives))
    .map(({ schemaPath }) => schemaPath.slice(alternatives.schemaPath.length).split('/')[1]);
  return new Set(names).size > 1;
}

function line(error: ErrorObject, value: JsonValue, root: SchemaNode): string {
  const path = pathOf(error.instancePath, value);
  const received = preview(error.data as JsonValue);
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case 'type': {
      const types = [params['type']].flat().join(' or ');
      return `${path}: expected ${types}, received ${received}`;
    }
    case 'required':
    case 'dependentRequired':
      return missing(error, path, String(params['missingProperty']), root);
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const name = String(params['additionalProperty'] ?? params['unevaluatedProperty']);
      return unknownProperty(error, path, name);
    }
    case 'enum':
      return notAllowed(path, params['allowedValues'] as JsonValue[], error.data as JsonValue);
    case 'const':
      return `${path}: expected ${literal(params['allowedValue'] as JsonValue)}, received ${received}`;
    case 'anyOf':
    case 'oneOf': {
      if (Array.isArray(params['passingSchemas'])) {
        return `${path}: fits more than one of the alternatives, and must fit exactly one`;
      }
      const type = nodeToType({ anyOf: error.schema as SchemaNode[] }, root);
      return `${path}: expected ${cut(type, MAX_EXPECTED_LENGTH)}, received ${received}`;
    }
    case 'false schema':
      return `${path}: expected nothing here, received ${received}`;
    default:
      return `${path}: ${cut(error.message ?? error.keyword, MAX_EXPECTED_LENGTH)}, received ${received}`;
  }
}

function missing(error: ErrorObject, path: string, name: string, root: SchemaNode): string {
  const { properties } = (error.parentSchema ?? {}) as SchemaKeywords;
  const known = Object.hasOwn(Object(properties) as object, name);
  const schema = known ? (properties as Record<string, SchemaNode>)[name] : undefined;
  const type = schema === undefined ? 'a value' : nodeToType(schema, root);
  return `${path}${step(name)}: expected ${cut(type, MAX_EXPECTED_LENGTH)}, received nothing (it is required)`;
}

function unknownProperty(error: ErrorObject, path: string, name: string): string {
  const { properties, patternProperties } = (error.parentSchema ?? {}) as SchemaKeywords;
  const names = Object.keys(Object(properties) as object);
  if (Object.hasOwn(Object(patternProperties) as object, PROTO_PATTERN)) names.push('__proto__');
  const nearest = nearestName(name, names);
  const hint = nearest === undefined ? '' : `; did you mean ${JSON.stringify(nearest)}?`;
  const list = names.length === 0 ? 'none are known' : `known: ${listed(names)}`;
  return `${path}${step(name)}: no such field (${list})${hint}`;
}

function notAllowed(path: string, allowed: readonly JsonValue[], received: JsonValue): string {
  const texts = allowed.filter((item) => typeof item === 'string');
  const nearest = typeof received === 'string' ? nearestName(received, texts) : undefined;
  const hint = nearest === undefined ? '' : `; did you mean ${JSON.stringify(nearest)}?`;
  const list = listed(allowed.map(literal));
  return `${path}: expected one of ${list}, received ${preview(received)}${hint}`;
}

function listed(items: readonly string[]): string {
  const more = items.length - MAX_VALUES;
  const list = items.slice(0, MAX_VALUES).map((item) => cut(item, MAX_RECEIVED_LENGTH));
  return more <= 0 ? list.join(', ') : `${list.join(', ')} and ${more} more`;
}

/** `$.filter.since` of `/filter/since`; what is an index and what a name only the value tells. */
function pathOf(instancePath: string, value: JsonValue): string {
  let path = '$';
  let current: unknown = value;
  for (const part of instancePath.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    path += Array.isArray(current) ? `[${key}]` : step(key);
    current = (current as Record<string, unknown> | undefined)?.[key];
  }
  return path;
}

function step(name: string): string {
  const shown = cut(name, MAX_RECEIVED_LENGTH);
  return IDENTIFIER.test(shown) ? `.${shown}` : `[${JSON.stringify(shown)}]`;
}

function preview(value: JsonValue): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value === 'string') return JSON.stringify(cut(value, MAX_RECEIVED_LENGTH));
  return typeof value === 'number' ? `number ${value}` : String(value);
}

function literal(value: JsonValue): string {
  return cut(JSON.stringify(value), MAX_EXPECTED_LENGTH);
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`;
}
