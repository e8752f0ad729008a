import { type Model, type ModelRequest, scriptedModel } from '@carrel/harness';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { CHECK, REPORT, SURVEY } from './scripted-programs.ts';

interface Survey {
  readonly sources: number;
  readonly exports: number;
  readonly missing: number;
  readonly packages: readonly {
    readonly name: string;
    readonly exports: number;
    readonly missing: number;
  }[];
}

/**
 * A model that plays one conversation: it surveys the exports of a workspace, checks its report,
 * and says what came of it. Only its words are scripted: the programs compute from what the tools
 * return, and the answer from what the programs returned.
 */
export function scriptedConversation(): Model {
  return scriptedModel({
    id: 'scripted/demo',
    countTokens: (text) => countTokens(text),
    respond: (request) => {
      const results = resultsOf(request);
      const failed = results.find(({ isError }) => isError);
      if (failed !== undefined) {
        const message = `The scripted conversation ends here, since a program failed: ${sentence(failed.text)}`;
        return [{ type: 'error', error: { code: 'unknown', message, retryable: false } }];
      }
      const [survey, check] = results;
      if (survey === undefined) {
        return {
          text: 'I read every source in one program, and write the report from what it finds.',
          toolCalls: [call(SURVEY)],
        };
      }
      if (check === undefined) {
        return {
          text: 'The report is written. I look up each of its entries.',
          toolCalls: [call(CHECK)],
        };
      }
      return {
        text: answer(
          valueOf<Survey>(survey.text),
          valueOf<{ wrong: readonly string[] }>(check.text),
        ),
      };
    },
  });
}

function call(code: string): {
  readonly name: string;
  readonly arguments: { readonly code: string };
} {
  return { name: 'run_code', arguments: { code } };
}

function resultsOf({
  messages,
}: ModelRequest): readonly { readonly isError: boolean; readonly text: string }[] {
  return messages.flatMap((message) =>
    message.role === 'tool'
      ? [
          {
            isError: message.isError,
            text: message.content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
          },
        ]
      : [],
  );
}

/** The value stands first in a result, as one line of JSON. */
function valueOf<Value>(text: string): Value {
  return JSON.parse(text.split('\n')[0] ?? '') as Value;
}

/** What a failure report says in its first lines. */
function sentence(report: string): string {
  return report.split('\n').slice(0, 2).join(' ').trim();
}

function answer(survey: Survey, check: { readonly wrong: readonly string[] }): string {
  const lines = survey.packages.map(
    ({ name, exports, missing }) => `- ${name}: ${missing} of ${exports} without a doc comment`,
  );
  const verdict =
    check.wrong.length === 0
      ? 'Each entry was looked up and is where the report says.'
      : `${check.wrong.length} entries are not where the report says: ${check.wrong.join(', ')}`;
  return [
    `${survey.missing} of ${survey.exports} exported names in ${survey.sources} sources lack a doc comment. ${REPORT} lists them.`,
    ...lines,
    verdict,
  ].join('\n');
}
