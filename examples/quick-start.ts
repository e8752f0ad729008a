import { createWorkerRuntime } from '@carrel/code-runtime-worker';
import { createCodeMode, defineTool } from '@carrel/tools-registry';

const weather = defineTool<{ city: string }>({
  name: 'get_weather',
  description: 'Gives the temperature in a city, in degrees Celsius.',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  outputSchema: { type: 'number' },
  execute: ({ city }) => city.length * 3,
});

const runtime = await createWorkerRuntime();
const { tool, systemPrompt } = createCodeMode({ tools: [weather], runtime });
// Hand `tool` and `systemPrompt` to your own loop. A model then answers with a program:
const code = `const cities = ['Oslo', 'Lisbon'];
return Promise.all(cities.map((city) => tools.get_weather({ city })));`;
const { content } = await tool.execute({ code });
console.log(systemPrompt.includes('get_weather'), content);
await runtime.dispose();
