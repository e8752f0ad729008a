import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import formatsPlugin from 'ajv-formats';
import { messageOf } from '@carrel/code-runtime';
import type { JsonValue } from '@carrel/code-runtime';
import { canonicalJson } from './canonical-json.ts';
import { describeProblems } from './describe-problems.ts';
import { compileLinearPattern } from './linear-pattern.ts';
import { normalizeSchema } from './normalize-schema.ts';
import type { NormalizedSchema, SchemaNode } from './normalize-schema.ts';
import type { SchemaDiagnostic } from './schema-diagnostic.ts';

/**
 * Values up to this many characters of JSON get every problem listed; of larger ones only the
 * first is looked for, because a list of a million bad items would be a million error objects.
 */
const MAX_EXHAUSTIVE_LENGTH = 64 * 1024;

/** How much text the `regex` format may cost: the check parses it, in more than linear time. */
const MAX_REGEX_LENGTH = 1_000;

/** Checks values against one schema. Compiles on the first check and keeps what it compiled. */
export class SchemaValidator {
  readonly #source: unknown;
  #normalized: NormalizedSchema | undefined;
  /** By whether it goes on after the first problem. */
  readonly #compiled = new Map<boolean, ValidateFunction>();
  #compileProblem: SchemaDiagnostic | undefined;

  constructor(schema: unknown) {
    this.#source = schema;
  }

  /** What of the schema is not checked; one that cannot be compiled at all lets every value pass. */
  get diagnostics(): readonly SchemaDiagnostic[] {
    const { schema, diagnostics } = this.#schema();
    // What does not compile is found by compiling.
    this.#function(schema, false);
    return this.#compileProblem ? [...diagnostics, this.#compileProblem] : diagnostics;
  }

  /**
   * Checks `value` without changing it.
   *
   * @returns what is wrong, one line each with path, expectation and what was received; empty when it fits
   */
  validate(value: JsonValue): readonly string[] {
    const { schema } = this.#schema();
    try {
      if (this.#function(schema, false)(value)) return [];
      const exhaustive = isShort(value);
      const check = this.#function(schema, exhaustive);
      check(value);
      return describeProblems(check.errors ?? [], value, schema);
    } catch (error) {
      // Only a recursive schema on a value nested hundreds of levels deep gets here.
      if (error instanceof RangeError) return ['$: nested too deep to be checked'];
      // ajv's own code for `unevaluatedProperties` breaks on some nestings of `patternProperties`.
      this.#compileProblem ??= {
        path: '#',
        message: `cannot be checked (${messageOf(error)}); a value that it breaks on passes`,
      };
      return [];
    }
  }

  #schema(): NormalizedSchema {
    return (this.#normalized ??= normalizeSchema(this.#source));
  }

  #function(schema: SchemaNode, allErrors: boolean): ValidateFunction {
    const known = this.#compiled.get(allErrors);
    if (known) return known;
    const compiled = this.#compile(schema, allErrors);
    this.#compiled.set(allErrors, compiled);
    return compiled;
  }

  #compile(schema: SchemaNode, allErrors: boolean): ValidateFunction {
    const ajv = newAjv(allErrors);
    try {
      return ajv.compile(schema);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      this.#compileProblem = {
        path: '#',
        message: `cannot be compiled (${problem}); any value passes`,
      };
      return ajv.compile(true);
    }
  }
}

// One instance for each schema: two tools may use the same names, and nothing outlives its tool.
function newAjv(allErrors: boolean): Ajv2020 {
  const ajv = new Ajv2020({
    strict: false,
    validateSchema: false,
    meta: false,
    logger: false,
    // The schema and the value at each problem, which the messages are made of.
    verbose: true,
    allErrors,
    // Without it `required: ["toString"]` is met by every object.
    ownProperties: true,
    inlineRefs: false,
    unicodeRegExp: false,
    code: { regExp: linearRegExp },
  });
  formatsPlugin.default(ajv, { mode: 'fast' });
  // The library's own patterns for these two take quadratic time on texts that a program can choose.
  ajv.addFormat('url', (text) => URL.canParse(text));
  ajv.addFormat('regex', (text) => text.length > MAX_REGEX_LENGTH || isRegExp(text));
  // The library compares every two items: a megabyte of small objects would take minutes.
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must not have equal items' },
    validate: (_unique: boolean, items: readonly JsonValue[]) =>
      new Set(items.map(canonicalJson)).size === items.length,
  });
  return ajv;
}

const linearRegExp = Object.assign(
  (source: string) => {
    const pattern = compileLinearPattern(source);
    // The schema is normalised: patterns that do not compile are gone from it.
    if (!pattern) throw new SyntaxError(`not a linear-time pattern: ${source}`);
    return pattern as RegExp;
  },
  // Named in generated standalone code only, which nothing here makes.
  { code: 'linearRegExp' },
);

function isShort(value: JsonValue): boolean {
  return JSON.stringify(value).length <= MAX_EXHAUSTIVE_LENGTH;
}

function isRegExp(text: string): boolean {
  try {
    return Boolean(new RegExp(text, 'u'));
  } catch {
    return false; // The constructor throws exactly for what is no pattern.
  }
}
