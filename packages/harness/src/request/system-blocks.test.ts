import { expect, it } from 'vitest';
import type { SystemPromptSection } from '../agent-contract.ts';
import { systemBlocks } from './system-blocks.ts';

function section(block: SystemPromptSection['block'], text: string): SystemPromptSection {
  return { name: text, block, text };
}

it('puts the stable sections before the session-varying ones, each in their order', () => {
  const sections = [
    section('session', 'c'),
    section('stable', 'a'),
    section('session', 'd'),
    section('stable', 'b'),
  ];
  expect(systemBlocks(sections)).toEqual(['a\n\nb', 'c\n\nd']);
});

it('leaves out what is empty', () => {
  expect(systemBlocks([])).toEqual([]);
  expect(systemBlocks([section('stable', ''), section('session', 'a')])).toEqual(['a']);
});
