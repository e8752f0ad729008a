import type { JsonValue } from '@carrel/code-runtime';
import { resolvePointer } from '../schema/json-pointer.ts';
import { normalizeSchema, PROTO_PATTERN } from '../schema/normalize-schema.ts';
import type { SchemaKeywords, SchemaNode } from '../schema/normalize-schema.ts';
import type { SchemaDiagnostic } from '../schema/schema-diagnostic.ts';
import { memberName, stringLiteral } from './escape-text.ts';
import { atom, intersectionOf, NEVER, parenthesized, unionOf, UNKNOWN } from './type-text.ts';
import type { TypeText } from './type-text.ts';

/** Nesting beyond which a type is `unknown`. */
const MAX_DEPTH = 24;
/** Nodes of one type: references can repeat a part more often than there is memory. */
const MAX_NODES = 5_000;
/** Values of one `enum` that are spelt out; more are told by their types. */
const MAX_ENUM_VALUES = 200;
/** Characters of one string value that are spelt out; a longer one is `string`. */
const MAX_LITERAL_LENGTH = 200;
const MAX_TUPLE_LENGTH = 50;

/** What {@link schemaToType} answers with. */
export interface SchemaType {
  /** A TypeScript type on one line. */
  readonly type: string;
  /** Where the type says less than the schema. */
  readonly diagnostics: readonly SchemaDiagnostic[];
}

/**
 * The TypeScript type of the values that a schema accepts. Total: takes any JSON value; a node
 * that says nothing usable is `unknown`, and the nodes around it keep their types. References are
 * written out, recursive ones are `unknown`.
 */
export function schemaToType(schema: unknown): SchemaType {
  const { schema: root, diagnostics } = normalizeSchema(schema);
  const writer = new TypeWriter(root);
  const type = writer.node(root, []).text;
  return { type, diagnostics: [...diagnostics, ...writer.diagnostics] };
}

/** The type of one node of a normalised schema. */
export function nodeToType(node: SchemaNode, root: SchemaNode): string {
  return new TypeWriter(root).node(node, []).text;
}

class TypeWriter {
  readonly diagnostics: SchemaDiagnostic[] = [];
  readonly #root: SchemaNode;
  #nodes = 0;

  constructor(root: SchemaNode) {
    this.#root = root;
  }

  /** @param trail - the references that led here, and a mark for each level of nesting */
  node(schema: SchemaNode, trail: readonly string[]): TypeText {
    if (typeof schema === 'boolean') return schema ? UNKNOWN : NEVER;
    this.#nodes += 1;
    if (trail.length > MAX_DEPTH || this.#nodes > MAX_NODES) {
      return this.#degraded('too large or nested too deep');
    }
    const inner = [...trail, ''];
    const list = (keyword: string): readonly TypeText[] =>
      ((schema[keyword] ?? []) as SchemaNode[]).map((item) => this.node(item, inner));
    return intersectionOf([
      this.#reference(schema, trail),
      this.#base(schema, inner),
      ...list('allOf'),
      ...['anyOf', 'oneOf'].flatMap((keyword) => (schema[keyword] ? [unionOf(list(keyword))] : [])),
    ]);
  }

  #degraded(reason: string): TypeText {
    const known = this.diagnostics.some(({ message }) => message.startsWith(reason));
    if (!known) this.diagnostics.push({ path: '#', message: `${reason}; shown as unknown there` });
    return UNKNOWN;
  }

  #reference({ $ref }: SchemaKeywords & { $ref?: unknown }, trail: readonly string[]): TypeText {
    if (typeof $ref !== 'string') return UNKNOWN;
    if (trail.includes($ref)) return this.#degraded('recursive');
    return this.node(resolvePointer(this.#root, $ref) as SchemaNode, [...trail, $ref]);
  }

  /** What the node says itself, without its references and compositions. */
  #base(schema: SchemaKeywords, trail: readonly string[]): TypeText {
    const types = typesOf(schema);
    if (schema['const'] !== undefined) return literal(schema['const'] as JsonValue);
    if (Array.isArray(schema['enum'])) return enumType(schema['enum'] as JsonValue[], types);
    return types === undefined
      ? UNKNOWN
      : unionOf(types.map((type) => this.#kind(type, schema, trail)));
  }

  #kind(type: string, schema: SchemaKeywords, trail: readonly string[]): TypeText {
    switch (type) {
      case 'object':
        return this.#object(schema, trail);
      case 'array':
        return this.#array(schema, trail);
      case 'integer':
        return atom('number');
      default:
        return atom(type);
    }
  }

  #object(schema: SchemaKeywords, trail: readonly string[]): TypeText {
    const properties = propertiesOf(schema);
    const required = new Set((schema['required'] as string[] | undefined) ?? []);
    const members = [...properties].map(([name, property]) => {
      const optional = !required.has(name);
      // An object has these from its prototype, where an optional member of another type clashes.
      const inherited = optional && name in Object.prototype;
      const type = inherited ? atom('any') : this.node(property, trail);
      return { text: `${memberName(name)}${optional ? '?' : ''}: ${type.text}`, type, optional };
    });
    for (const name of required) {
      if (properties.has(name)) continue;
      members.push({ text: `${memberName(name)}: unknown`, type: UNKNOWN, optional: false });
    }
    const rest = this.#rest(schema, trail, members.length === 0);
    if (rest !== undefined) {
      // An index signature must cover the named members too.
      const named = members.map(({ type }) => (type.text === 'any' ? UNKNOWN : type));
      const missing = members.some(({ optional }) => optional) ? [atom('undefined')] : [];
      const covering = rest.text === 'never' ? rest : unionOf([rest, ...named, ...missing]);
      members.push({ text: `[key: string]: ${covering.text}`, type: covering, optional: false });
    }
    return atom(`{ ${members.map(({ text }) => text).join('; ')} }`);
  }

  /** The type of members that have no name in the schema; `undefined` when it shows none. */
  #rest(schema: SchemaKeywords, trail: readonly string[], bare: boolean): TypeText | undefined {
    const additional = schema['additionalProperties'] as SchemaNode | undefined;
    const patterns = Object.entries((schema['patternProperties'] as object | undefined) ?? {})
      .filter(([pattern]) => pattern !== PROTO_PATTERN)
      .map(([, node]) => this.node(node as SchemaNode, trail));
    // Open by the letter, but to show every such schema as open would hide every misspelt name.
    if (additional === undefined) return bare || patterns.length > 0 ? UNKNOWN : undefined;
    const rest = unionOf([this.node(additional, trail), ...patterns]);
    return rest.text === 'never' && !bare ? undefined : rest;
  }

  #array(schema: SchemaKeywords, trail: readonly string[]): TypeText {
    const items = (schema['items'] ?? true) as SchemaNode;
    const prefix = (schema['prefixItems'] ?? []) as SchemaNode[];
    if (prefix.length === 0) return atom(`${parenthesized(this.node(items, trail))}[]`);
    if (prefix.length > MAX_TUPLE_LENGTH) return atom('unknown[]');
    const minimum = (schema['minItems'] ?? 0) as number;
    const members = prefix.map((item, index) => {
      const type = this.node(item, trail);
      return index < minimum ? type.text : `${parenthesized(type)}?`;
    });
    const rest = this.node(items, trail);
    if (rest.text !== 'never') members.push(`...${parenthesized(rest)}[]`);
    return atom(`[${members.join(', ')}]`);
  }
}

/** The types a value may have; without a `type`, the one that the other keywords speak of. */
function typesOf(schema: SchemaKeywords): readonly string[] | undefined {
  if (schema['type'] !== undefined) return [schema['type']].flat() as string[];
  if (schema['properties'] !== undefined || schema['required'] !== undefined) return ['object'];
  if (schema['prefixItems'] !== undefined) return ['array'];
  return undefined;
}

function propertiesOf(schema: SchemaKeywords): ReadonlyMap<string, SchemaNode> {
  const properties = Object.entries((schema['properties'] as object | undefined) ?? {});
  const patterns = (schema['patternProperties'] ?? {}) as Record<string, SchemaNode>;
  const proto = patterns[PROTO_PATTERN];
  return new Map([
    ...(properties as [string, SchemaNode][]),
    ...(proto === undefined ? [] : [['__proto__', proto] as const]),
  ]);
}

function enumType(values: readonly JsonValue[], types: readonly string[] | undefined): TypeText {
  const fitting = values.filter(
    (value) => types === undefined || types.some((type) => is(value, type)),
  );
  if (fitting.length > MAX_ENUM_VALUES) return unionOf(fitting.map(typeOfValue));
  return unionOf(fitting.map(literal));
}

function literal(value: JsonValue): TypeText {
  if (typeof value === 'string') {
    return value.length > MAX_LITERAL_LENGTH ? atom('string') : atom(stringLiteral(value));
  }
  // A negative number and one with an exponent are literal types too.
  return typeof value === 'object' && value !== null ? typeOfValue(value) : atom(String(value));
}

function typeOfValue(value: JsonValue): TypeText {
  if (value === null) return atom('null');
  if (Array.isArray(value)) return atom('unknown[]');
  return atom(typeof value === 'object' ? '{ [key: string]: unknown }' : typeof value);
}

function is(value: JsonValue, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}
