/** One line of the frame, numbered. Longer lines show a window around the column. */
const WINDOW_COLUMNS = 120;

/** Line breaks as ECMAScript counts them, so that the frame agrees with the engines. */
const LINE_BREAK = /\r\n|[\n\r\u2028\u2029]/;

/**
 * Three lines of a program around a place, with a marker under it.
 *
 * @param source - the program's own text
 * @param line - from 1
 * @param column - from 1, in UTF-16 units; without it no marker is drawn
 * @returns the frame, or `undefined` when the program has no such line
 */
export function codeFrame(source: string, line: number, column?: number): string | undefined {
  const lines = source.split(LINE_BREAK);
  if (line < 1 || line > lines.length) return undefined;
  const first = Math.max(1, line - 1);
  const last = Math.min(lines.length, line + 1);
  const width = String(last).length;
  const start = column === undefined ? 0 : Math.max(0, column - 1 - WINDOW_COLUMNS / 2);
  const frame: string[] = [];
  for (let number = first; number <= last; number += 1) {
    const text = (lines[number - 1] ?? '').slice(start, start + WINDOW_COLUMNS);
    const pointer = number === line ? '>' : ' ';
    frame.push(`${pointer} ${String(number).padStart(width)} | ${text}`.trimEnd());
    if (number === line && column !== undefined) {
      // Tabs stay tabs, so that the marker stands under its character at any tab width.
      const indent = text.slice(0, column - 1 - start).replace(/[^\t]/g, ' ');
      frame.push(`  ${' '.repeat(width)} | ${indent}^`);
    }
  }
  return frame.join('\n');
}
