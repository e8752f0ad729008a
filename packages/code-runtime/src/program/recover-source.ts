/** A Markdown fence line: the marker, its length, and whatever language tag follows. */
const FENCE = /^[ \t]*(`{3,}|~{3,})[^`\n\r]*$/gm;

/** Everything but line breaks, which keep their place. */
const VISIBLE = /[^\n\r\u2028\u2029]/g;

function blank(text: string): string {
  return text.replace(VISIBLE, ' ');
}

/**
 * The program inside what a model wrote: the content of the one fenced block, when there is one.
 *
 * Whatever is not the program is blanked, not cut, so that every line and column stays as it was
 * in the original text. A byte order mark and a `#!` line are blanked as well.
 */
export function recoverSource(text: string): string {
  const fences = [...text.matchAll(FENCE)];
  let source = text;
  const [open, close] = fences;
  if (fences.length === 2 && open && close && open[1] === close[1]) {
    const start = open.index + open[0].length;
    source =
      blank(text.slice(0, start)) + text.slice(start, close.index) + blank(text.slice(close.index));
  }
  return source.replace(/^\uFEFF?(?:#![^\n\r\u2028\u2029]*)?/, blank);
}
