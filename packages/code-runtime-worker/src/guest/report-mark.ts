/** First character of a report: the program has ended. */
export const FINISHED = '!';
/** First character of a report: the program goes on. */
export const UNFINISHED = '?';
