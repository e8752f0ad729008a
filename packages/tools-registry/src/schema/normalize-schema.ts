import { memberPointer, resolvePointer } from './json-pointer.ts';
import { compileLinearPattern } from './linear-pattern.ts';
import { cutReferenceLoops } from './reference-loops.ts';
import type { SchemaDiagnostic } from './schema-diagnostic.ts';

/** One node of a normalised schema. */
export type SchemaNode = boolean | SchemaKeywords;

/** The keywords of a node; members that are absent say nothing. */
export interface SchemaKeywords {
  [keyword: string]: unknown;
}

/** A schema of any draft as 2020-12, with nothing in it that a compiler would refuse. */
export interface NormalizedSchema {
  /** Holds every referenced schema under `$defs`, and refers to those alone: `#/$defs/d1`. */
  readonly schema: SchemaNode;
  readonly diagnostics: readonly SchemaDiagnostic[];
}

const TYPES = new Set(['null', 'boolean', 'object', 'array', 'number', 'integer', 'string']);
const NUMBERS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];
const COUNTS = [
  'minLength maxLength minItems maxItems minProperties maxProperties minContains',
  'maxContains',
].flatMap((line) => line.split(' '));
const SCHEMAS = [
  'not if then else items contains propertyNames additionalProperties',
  'unevaluatedProperties unevaluatedItems',
].flatMap((line) => line.split(' '));
const SCHEMA_LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const SCHEMA_MAPS = ['properties', 'patternProperties', 'dependentSchemas'];

/** Stands for the property `__proto__` in a normalised schema, under `patternProperties`. */
export const PROTO_PATTERN = '^__proto__$';

/** Nesting beyond which a schema is taken to accept anything; real ones stay below 20. */
const MAX_DEPTH = 100;

/**
 * Rewrites a schema of any draft from 4 on as 2020-12. Total: takes any JSON value. What has no
 * meaning to validation is left out; what is malformed is left out with a diagnostic, and only
 * that keyword of that node; referenced schemas are gathered under `$defs`, whatever they stood
 * under. Dialects are told apart by form, because many schemas name none or a wrong one.
 */
export function normalizeSchema(root: unknown): NormalizedSchema {
  const normalizer = new Normalizer(root);
  return { schema: normalizer.run(), diagnostics: normalizer.diagnostics };
}

class Normalizer {
  readonly diagnostics: SchemaDiagnostic[] = [];
  readonly #root: unknown;
  readonly #rootId: string | undefined;
  /** Name under `$defs` by the pointer of what is referred to. */
  readonly #names = new Map<string, string>();
  readonly #definitions = new Map<string, SchemaNode>();

  constructor(root: unknown) {
    this.#root = root;
    const { $id, id } = isRecord(root) ? root : {};
    this.#rootId = [$id, id].find((value) => typeof value === 'string');
  }

  run(): SchemaNode {
    const schema = this.#node(this.#root, '#', 0);
    if (typeof schema === 'boolean' || this.#definitions.size === 0) return schema;
    cutReferenceLoops(this.#definitions, (name) =>
      this.#report(`#/$defs/${name}`, 'refers to itself without an end; the reference was ignored'),
    );
    schema['$defs'] = Object.fromEntries(this.#definitions);
    return schema;
  }

  #report(path: string, message: string): void {
    this.diagnostics.push({ path, message });
  }

  #node(source: unknown, path: string, depth: number): SchemaNode {
    if (typeof source === 'boolean') return source;
    if (!isRecord(source) || depth > MAX_DEPTH) {
      this.#report(
        path,
        isRecord(source) ? 'nested too deep; not checked' : 'not a schema; not checked',
      );
      return true;
    }
    const target: SchemaKeywords = {};
    this.#type(source, target, path);
    this.#values(source, target, path);
    this.#numbers(source, target, path);
    this.#pattern(source, target, path);
    this.#required(source, target, path);
    this.#subschemas(source, target, path, depth);
    this.#items(source, target, path, depth);
    this.#dependencies(source, target, path, depth);
    this.#reference(source, target, path, depth);
    return nullable(source, target);
  }

  #type(source: SchemaKeywords, target: SchemaKeywords, path: string): void {
    if (source['type'] === undefined) return;
    const types = Array.isArray(source['type']) ? source['type'] : [source['type']];
    const known = types.filter((type) => TYPES.has(type as string));
    // One unknown name in a list may stand for anything: then nothing can be said of the type.
    if (known.length === 0 || known.length < types.length) {
      this.#report(memberPointer(path, 'type'), 'not a JSON type; any type passes');
      return;
    }
    target['type'] = known.length === 1 ? known[0] : [...new Set(known)];
  }

  #values(source: SchemaKeywords, target: SchemaKeywords, path: string): void {
    if (source['const'] !== undefined) target['const'] = source['const'];
    if (source['enum'] === undefined) return;
    if (Array.isArray(source['enum']) && source['enum'].length > 0) target['enum'] = source['enum'];
    else this.#report(memberPointer(path, 'enum'), 'not a list of values; any value passes');
  }

  #numbers(source: SchemaKeywords, target: SchemaKeywords, path: string): void {
    for (const keyword of [...NUMBERS, ...COUNTS]) {
      const value = source[keyword];
      if (value === undefined || typeof value === 'boolean') continue;
      const count = COUNTS.includes(keyword);
      const fits =
        typeof value === 'number' &&
        Number.isFinite(value) &&
        (!count || (Number.isInteger(value) && value >= 0)) &&
        (keyword !== 'multipleOf' || value > 0);
      if (fits) target[keyword] = value;
      else this.#report(memberPointer(path, keyword), 'not a usable number; ignored');
    }
    // Draft 4: a flag that turns the bound beside it into an exclusive one.
    for (const [flag, bound] of [
      ['exclusiveMinimum', 'minimum'],
      ['exclusiveMaximum', 'maximum'],
    ] as const) {
      if (source[flag] === true && target[bound] !== undefined) {
        target[flag] = target[bound];
        delete target[bound];
      }
    }
    if (source['uniqueItems'] === true) target['uniqueItems'] = true;
  }

  #pattern(source: SchemaKeywords, target: SchemaKeywords, path: string): void {
    const format = source['format'];
    // ajv looks a format up in a plain object, where `constructor` is found.
    if (typeof format === 'string' && !(format in Object.prototype)) target['format'] = format;
    const pattern = source['pattern'];
    if (pattern === undefined) return;
    if (typeof pattern === 'string' && compileLinearPattern(pattern)) target['pattern'] = pattern;
    else
      this.#report(
        memberPointer(path, 'pattern'),
        'not a pattern that can be checked in linear time; ignored',
      );
  }

  #required(source: SchemaKeywords, target: SchemaKeywords, path: string): void {
    const required = source['required'];
    if (required === undefined) return;
    if (isTextList(required)) target['required'] = [...new Set(required)];
    else this.#report(memberPointer(path, 'required'), 'not a list of names; ignored');
  }

  #subschemas(source: SchemaKeywords, target: SchemaKeywords, path: string, depth: number): void {
    for (const keyword of SCHEMAS) {
      const value = source[keyword];
      if (value === undefined || (keyword === 'items' && Array.isArray(value))) continue;
      target[keyword] = this.#node(value, memberPointer(path, keyword), depth + 1);
    }
    for (const keyword of SCHEMA_LISTS) {
      const value = source[keyword];
      if (value === undefined) continue;
      const at = memberPointer(path, keyword);
      if (Array.isArray(value) && value.length > 0) target[keyword] = this.#list(value, at, depth);
      else this.#report(at, 'not a list of schemas; ignored');
    }
    for (const keyword of SCHEMA_MAPS) this.#map(keyword, source, target, path, depth);
    moveProtoProperty(target);
  }

  #list(sources: readonly unknown[], path: string, depth: number): SchemaNode[] {
    return sources.map((item, index) => this.#node(item, memberPointer(path, index), depth + 1));
  }

  #map(
    keyword: string,
    source: SchemaKeywords,
    target: SchemaKeywords,
    path: string,
    depth: number,
  ): void {
    const value = source[keyword];
    if (value === undefined) return;
    const at = memberPointer(path, keyword);
    if (!isRecord(value)) {
      this.#report(at, 'not a map of schemas; ignored');
      return;
    }
    const entries: [string, SchemaNode][] = [];
    for (const [name, subschema] of Object.entries(value)) {
      if (keyword === 'patternProperties' && !compileLinearPattern(name)) {
        this.#report(
          memberPointer(at, name),
          'not a pattern that can be checked in linear time; ignored',
        );
        // Which properties it would have covered is unknown, so none counts as additional.
        delete target['additionalProperties'];
        delete target['unevaluatedProperties'];
      } else {
        entries.push([name, this.#node(subschema, memberPointer(at, name), depth + 1)]);
      }
    }
    // `fromEntries` defines members, so that `__proto__` is a name like any other.
    target[keyword] = Object.fromEntries(entries);
  }

  /** Up to draft 2019-09 a tuple is an array under `items`, and its rest stands under `additionalItems`. */
  #items(source: SchemaKeywords, target: SchemaKeywords, path: string, depth: number): void {
    const { items, additionalItems } = source;
    if (!Array.isArray(items)) return;
    if (items.length > 0)
      target['prefixItems'] = this.#list(items, memberPointer(path, 'items'), depth);
    if (additionalItems !== undefined) {
      const at = memberPointer(path, 'additionalItems');
      target['items'] = this.#node(additionalItems, at, depth + 1);
    }
  }

  /** Up to draft 7 the two forms of dependencies share one keyword. */
  #dependencies(source: SchemaKeywords, target: SchemaKeywords, path: string, depth: number): void {
    for (const keyword of ['dependencies', 'dependentRequired']) {
      const value = source[keyword];
      if (value === undefined) continue;
      const at = memberPointer(path, keyword);
      for (const [name, item] of isRecord(value) ? Object.entries(value) : []) {
        const group = isTextList(item) ? 'dependentRequired' : 'dependentSchemas';
        const entry = isTextList(item)
          ? [...new Set(item)]
          : this.#node(item, memberPointer(at, name), depth + 1);
        const entries = Object.entries(isRecord(target[group]) ? target[group] : {});
        target[group] = Object.fromEntries([...entries, [name, entry]]);
      }
    }
  }

  #reference(source: SchemaKeywords, target: SchemaKeywords, path: string, depth: number): void {
    const reference = source['$ref'] ?? source['$recursiveRef'];
    if (reference === undefined) return;
    const pointer = this.#localPointer(reference);
    const found = pointer === undefined ? undefined : resolvePointer(this.#root, pointer);
    if (pointer === undefined || (typeof found !== 'boolean' && !isRecord(found))) {
      this.#report(
        memberPointer(path, '$ref'),
        'refers to nothing in this schema; any value passes',
      );
      return;
    }
    target['$ref'] = `#/$defs/${this.#definition(pointer, found, depth)}`;
  }

  #localPointer(reference: unknown): string | undefined {
    if (typeof reference !== 'string') return undefined;
    const own = this.#rootId !== undefined && reference.startsWith(`${this.#rootId}#`);
    const pointer = own ? reference.slice(reference.indexOf('#')) : reference;
    return pointer.startsWith('#') ? pointer : undefined;
  }

  #definition(pointer: string, found: unknown, depth: number): string {
    const known = this.#names.get(pointer);
    if (known !== undefined) return known;
    const name = `d${this.#names.size + 1}`;
    // Named before it is filled, so that a definition that refers to itself ends here.
    this.#names.set(pointer, name);
    this.#definitions.set(name, this.#node(found, pointer, depth + 1));
    return name;
  }
}

/** ajv leaves a property of this name unchecked, but not a pattern that says the same. */
function moveProtoProperty(target: SchemaKeywords): void {
  const { properties, patternProperties } = target;
  if (!isRecord(properties) || !Object.hasOwn(properties, '__proto__')) return;
  const { ['__proto__']: proto, ...others } = properties;
  target['properties'] = others;
  target['patternProperties'] = { ...(patternProperties as object), [PROTO_PATTERN]: proto };
}

/** OpenAPI 3.0: `nullable` beside a type, a list of values, or a composition lets null pass too. */
function nullable(source: SchemaKeywords, target: SchemaKeywords): SchemaNode {
  if (source['nullable'] !== true) return target;
  const composed = ['$ref', 'anyOf', 'oneOf', 'allOf', 'const'].some(
    (keyword) => keyword in target,
  );
  if (composed) return { anyOf: [target, { type: 'null' }] };
  const { type, enum: values } = target;
  if (type !== undefined) target['type'] = [...new Set([type, 'null'].flat())];
  if (Array.isArray(values) && !values.includes(null)) target['enum'] = [...values, null];
  return target;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
