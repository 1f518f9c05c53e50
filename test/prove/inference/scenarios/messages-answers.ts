/** Answers of a provider that the scenarios of messages need, in Anthropic's form. */
import { bodyOf, PROMPT_TOKENS } from '../../../support/inference/fake-chat.ts'
import type { FakeAnswer } from '../../../support/inference/fake-provider.ts'
import { streams, type FakeEvent } from '../../../support/inference/fake-stream.ts'
import { block, blockEnd, delta, started, STOP, stopped } from '../../../support/inference/message-events.ts'
import { says } from './answers.ts'

export type Block = Readonly<Record<string, unknown>> & { readonly type: string }

/** These blocks, streamed in fragments or whole. @param id of the message: clients join messages of one id */
export function gives(blocks: readonly Block[], reason: string, id = 'msg_1'): FakeAnswer {
  return (call, reply) => {
    const usage = { input_tokens: PROMPT_TOKENS, output_tokens: 4 }
    const ending = { stop_reason: reason, stop_sequence: null, usage }
    const head = { id, type: 'message', role: 'assistant', model: 'fake' }
    if (bodyOf(call)['stream'] !== true) return says({ ...head, content: blocks, ...ending })(call, reply)
    const events = [started({ id }), ...blocks.flatMap(inFragments), stopped(usage, reason), STOP]
    return streams(events.map(named))(call, reply)
  }
}

function inFragments({ type, ...members }: Block, index: number): readonly object[] {
  const end = blockEnd(index)
  if (type === 'text') {
    const texts = String(members['text']).split(/(?= )/)
    return [
      block({ type, text: '' }, index),
      ...texts.map((text) => delta({ type: 'text_delta', text }, index)),
      end,
    ]
  }
  if (type === 'thinking') {
    const { thinking, signature } = members
    const signed = delta({ type: 'signature_delta', signature }, index)
    const begun = block({ type, thinking: '', signature: '' }, index)
    return [begun, delta({ type: 'thinking_delta', thinking }, index), signed, end]
  }
  const { input, ...more } = members
  const json = JSON.stringify(input)
  const pieces = ['', json.slice(0, 4), json.slice(4, 12), json.slice(12)]
  const fragments = pieces.map((piece) => delta({ type: 'input_json_delta', partial_json: piece }, index))
  return [block({ type, ...more, input: {} }, index), ...fragments, end]
}

export function named(event: object): FakeEvent {
  return { event: (event as { readonly type: string }).type, data: JSON.stringify(event) }
}
