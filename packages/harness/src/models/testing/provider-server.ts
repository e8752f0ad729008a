import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What the server answers to one request. */
type ScriptedResponse =
  /** A JSON body, such as an error. */
  | { readonly status: number; readonly json: unknown }
  | {
      /** Server-sent events; those with a `type` are also named by it, as Anthropic does. */
      readonly events: readonly unknown[];
      /**
       * What follows the events: the end of the response, an end of the connection in the midst of
       * it, or nothing at all. Default `end`.
       */
      readonly after?: 'end' | 'cut' | 'hang';
    };

/** A request as it came over the wire. */
interface ReceivedRequest {
  readonly path: string;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

/** A provider on 127.0.0.1 that answers by a script. */
export interface ProviderServer {
  /** Without a slash at the end. */
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  /** Resolves as soon as a client has let go of a response that was not ended. */
  readonly abandoned: Promise<void>;
  /** Adds responses; each is given once, in order. */
  respond(...responses: readonly ScriptedResponse[]): void;
  close(): Promise<void>;
}

/** Starts a {@link ProviderServer} on a free port. */
export async function startProviderServer(): Promise<ProviderServer> {
  const queue: ScriptedResponse[] = [];
  const requests: ReceivedRequest[] = [];
  const abandoned = Promise.withResolvers<void>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const received = await text(request);
    const body = JSON.parse(received) as Record<string, unknown>;
    requests.push({ path: request.url ?? '', text: received, body });
    response.on('close', () => {
      if (!response.writableEnded) abandoned.resolve();
    });
    send(response, queue.shift() ?? { status: 500, json: 'nothing is scripted' });
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    abandoned: abandoned.promise,
    respond: (...responses) => void queue.push(...responses),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function send(response: ServerResponse, scripted: ScriptedResponse): void {
  if ('json' in scripted) {
    response.writeHead(scripted.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(scripted.json));
    return;
  }
  const { events, after = 'end' } = scripted;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const written = events.map(eventText).join('');
  if (after === 'end') response.end(written);
  else response.write(written, () => after === 'cut' && response.destroy());
}

function eventText(event: unknown): string {
  if (typeof event === 'string') return `data: ${event}\n\n`;
  const { type } = event as { type?: unknown };
  const name = typeof type === 'string' ? `event: ${type}\n` : '';
  return `${name}data: ${JSON.stringify(event)}\n\n`;
}
