import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { encodeArgument, parseJson } from '@carrel/code-runtime/json';
import type { JsonSchema } from './json-schema.ts';

/** Whether this is a schema of a Standard Schema library. Some of those are functions. */
export function isStandardSchema(schema: unknown): schema is StandardSchemaV1 {
  return (
    schema !== null &&
    (typeof schema === 'object' || typeof schema === 'function') &&
    '~standard' in schema
  );
}

/**
 * The JSON Schema of a definition's schema option, as a snapshot that nobody else holds.
 *
 * @param option - the option's name, for the errors
 * @param direction - what the schema describes: what goes into the tool, or what comes out of it
 * @throws TypeError when it is no schema, is not JSON, or does not convert to JSON Schema
 */
export function toJsonSchema(
  schema: unknown,
  option: string,
  direction: 'input' | 'output',
): JsonSchema {
  const source = isStandardSchema(schema) ? converted(schema, option, direction) : schema;
  if (typeof source === 'boolean') return source;
  if (typeof source !== 'object' || source === null || Array.isArray(source)) {
    throw new TypeError(
      `Expected \`${option}\` to be a JSON Schema (an object or a boolean) or a Standard Schema, got ${kindOf(source)}`,
    );
  }
  return snapshot(source, option);
}

function converted(
  schema: StandardSchemaV1,
  option: string,
  direction: 'input' | 'output',
): unknown {
  const { vendor, jsonSchema } = schema['~standard'] as StandardSchemaV1.Props &
    Partial<StandardJSONSchemaV1.Props>;
  if (typeof jsonSchema?.[direction] !== 'function') {
    throw new TypeError(
      `Expected \`${option}\` to convert to JSON Schema: the Standard Schema of ${JSON.stringify(vendor)} has no \`~standard.jsonSchema.${direction}\`. Hand in its JSON Schema instead, or a version of the library that implements Standard JSON Schema`,
    );
  }
  try {
    return jsonSchema[direction]({ target: 'draft-2020-12' });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TypeError(`Expected \`${option}\` to convert to JSON Schema: ${reason}`, {
      cause: error,
    });
  }
}

function snapshot(schema: object, option: string): JsonSchema {
  try {
    // An object has a text, and its text is an object.
    return parseJson(encodeArgument(schema) as string) as JsonSchema;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TypeError(`Expected \`${option}\` to be JSON: ${reason}`, { cause: error });
  }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `${String(value)} (${typeof value})`;
}
