import t from 'tap'
import type { PromptCall } from '../../../src/dialects/prompt/prompt.ts'
import { calledTool, statedText } from '../../support/inference/prompts.ts'
import { withCallSignatures, type ReadPart } from '../../../src/dialects/prompt/signatures.ts'

const signed = (data: string): ReadPart => ({
  kind: 'call_signature',
  signature: { format: 'google-gemini-v1', data },
})
const call = (id: string): PromptCall => calledTool(id, 'f')

function signaturesOf(...parts: readonly ReadPart[]): readonly unknown[] {
  return withCallSignatures(parts).map((part) =>
    part.kind === 'text' ? part.text : [part.kind, 'signature' in part ? part.signature?.data : undefined],
  )
}

t.test('a signature after a call belongs to that call, even after another part', async (t) => {
  t.same(signaturesOf(call('a'), signed('A'), call('b'), statedText('x'), signed('B')), [
    ...[['call', 'A'], ['call', 'B'], 'x'],
  ])
})

t.test('signatures before any call belong to the next calls, in their order', async (t) => {
  t.same(signaturesOf(signed('A'), statedText('x'), call('a'), call('b')), [
    ...['x', ['call', 'A'], ['call', undefined]],
  ])
  t.same(signaturesOf(signed('A'), signed('B'), call('a'), call('b'), call('c')), [
    ...[
      ['call', 'A'],
      ['call', 'B'],
      ['call', undefined],
    ],
  ])
})

t.test('a signature without any call becomes a separate part', async (t) => {
  t.same(signaturesOf(statedText('x'), signed('A')), [['reasoning', 'A'], 'x'])
})
