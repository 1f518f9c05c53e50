/** Anthropic's messages with thinking: its blocks have to come back as they were given. */
import { SIGNATURE_FORMATS } from '../../../../src/dialects/prompt/signatures.ts'
import { bodyOf, wholeJson } from '../../../support/inference/fake-chat.ts'
import { refusesMessages, strictMessages } from '../../../support/inference/fake-messages.ts'
import type { FakeAnswer } from '../../../support/inference/fake-provider.ts'
import { streams, type FakeEvent } from '../../../support/inference/fake-stream.ts'
import { block, blockEnd, delta, started, STOP, stopped } from '../../../support/inference/message-events.ts'
import type { IssuedSignatures, SeenSignature } from './issued.ts'
import { placeIn, stepAt, type ModelStep } from './steps.ts'

type Members = Readonly<Record<string, unknown>>

const FORMAT = SIGNATURE_FORMATS.messages
export const HIDDEN = 'a hidden thought'

/** @param by slug of the model */
export function signingMessages(by: string, issued: IssuedSignatures): FakeAnswer {
  return strictMessages((call, reply) => {
    const body = bodyOf(call)
    const wrong = wrongMessages(body) ?? issued.wrongIn(signaturesIn(messagesIn(body)), by)
    if (wrong !== null) return refusesMessages(400, { message: wrong })(call, reply)
    const step = stepAt(placeIn(call.body.toString()), issued.mark(by))
    const isThinking = ((body['thinking'] ?? {}) as Members)['type'] === 'enabled'
    const content = [...(isThinking ? thoughtsOf(step, by, issued) : []), ...statedOf(step)]
    const answer = body['stream'] === true ? streams(eventsOf(content)) : wholeJson(200, wholeOf(content))
    return answer(call, reply)
  })
}

export const thoughtOf = (text: string): Omit<SeenSignature, 'signature'> => ({
  format: FORMAT,
  of: `the thought "${text}"`,
})
export const hiddenThought: Omit<SeenSignature, 'signature'> = { format: FORMAT, of: HIDDEN }

function thoughtsOf({ thought, hasHidden }: ModelStep, by: string, issued: IssuedSignatures): Members[] {
  const shown = { type: 'thinking', thinking: thought, signature: issued.sign(by, thoughtOf(thought)) }
  return hasHidden ? [shown, { type: 'redacted_thinking', data: issued.sign(by, hiddenThought) }] : [shown]
}

function statedOf({ mark, text, calls }: ModelStep): readonly Members[] {
  return [
    ...(text === null ? [] : [{ type: 'text', text }]),
    ...calls.map(({ name, args }, nth) => ({
      type: 'tool_use',
      id: `toolu_${mark}_${nth}`,
      name,
      input: args,
    })),
  ]
}

function stopOf(content: readonly Members[]): string {
  return content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn'
}

function wholeOf(content: readonly Members[]): string {
  const { message } = started() as { readonly message: Members }
  return JSON.stringify({ ...message, content, stop_reason: stopOf(content) })
}

function eventsOf(content: readonly Members[]): readonly FakeEvent[] {
  const events = [started(), ...content.flatMap(blockEvents), stopped(undefined, stopOf(content)), STOP]
  return events.map((event) => ({
    event: String((event as Members)['type']),
    data: JSON.stringify(event),
  }))
}

/** Texts come in two pieces, and a signature after its text. */
function blockEvents(one: Members, index: number): readonly object[] {
  const pieces = (type: string, member: string, text: string): readonly object[] =>
    [text.slice(0, 4), text.slice(4)].map((piece) => delta({ type, [member]: piece }, index))
  const end = blockEnd(index)
  switch (one['type']) {
    case 'thinking':
      return [
        block({ type: 'thinking', thinking: '', signature: '' }, index),
        ...pieces('thinking_delta', 'thinking', String(one['thinking'])),
        delta({ type: 'signature_delta', signature: one['signature'] }, index),
        end,
      ]
    case 'text':
      return [
        block({ type: 'text', text: '' }, index),
        ...pieces('text_delta', 'text', String(one['text'])),
        end,
      ]
    case 'tool_use':
      return [
        block({ ...one, input: {} }, index),
        ...pieces('input_json_delta', 'partial_json', JSON.stringify(one['input'])),
        end,
      ]
    default:
      return [block(one, index), end]
  }
}

interface Message {
  readonly role: string
  readonly content: readonly Members[]
}

function messagesIn({ messages }: Members): readonly Message[] {
  return (messages as readonly { readonly role: string; readonly content: unknown }[]).map(
    ({ role, content }) => ({
      role,
      content: Array.isArray(content) ? (content as readonly Members[]) : [{ type: 'text', text: content }],
    }),
  )
}

function signaturesIn(messages: readonly Message[]): readonly SeenSignature[] {
  return messages.flatMap(({ content }) =>
    content.flatMap((one) => {
      if (one['type'] === 'thinking')
        return { ...thoughtOf(String(one['thinking'])), signature: String(one['signature']) }
      return one['type'] === 'redacted_thinking' ? { ...hiddenThought, signature: String(one['data']) } : []
    }),
  )
}

const BLOCKS: Readonly<Record<string, string>> = {
  thinking: 'signature,thinking,type',
  redacted_thinking: 'data,type',
}
const CALL_ID = /^[a-zA-Z0-9_-]+$/

/** @returns the provider's message; null: nothing is wrong */
function wrongMessages(body: Members): string | null {
  const messages = messagesIn(body)
  for (const [nth, { role, content }] of messages.entries()) {
    for (const one of content) {
      const members = BLOCKS[String(one['type'])]
      if (members !== undefined && Object.keys(one).sort().join() !== members)
        return `messages.${nth}.content: Extra inputs are not permitted`
      if (one['type'] === 'text' && one['text'] === '')
        return 'messages: text content blocks must be non-empty'
    }
    const wrong = role === 'assistant' ? wrongCalls(content, messages[nth + 1]) : null
    if (wrong !== null) return `messages.${nth}: ${wrong}`
  }
  return wrongStep(body, messages)
}

function wrongCalls(content: readonly Members[], next: Message | undefined): string | null {
  const idsOf = (list: readonly Members[], type: string, member: string): readonly string[] =>
    list.filter((one) => one['type'] === type).map((one) => String(one[member]))
  const calls = idsOf(content, 'tool_use', 'id')
  const results = idsOf(next?.content ?? [], 'tool_result', 'tool_use_id')
  if (!calls.every((id) => CALL_ID.test(id)))
    return "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
  if (!calls.every((id) => results.includes(id)))
    return '`tool_use` ids were found without `tool_result` blocks immediately after'
  return results.every((id) => calls.includes(id))
    ? null
    : 'unexpected `tool_use_id` found in `tool_result` blocks'
}

function wrongStep({ thinking }: Members, messages: readonly Message[]): string | null {
  const isEnabled = ((thinking ?? {}) as Members)['type'] === 'enabled'
  const step = messages.at(-2)
  const isOpen = messages.at(-1)?.content.some(({ type }) => type === 'tool_result') === true
  const first = String(step?.content[0]?.['type'])
  if (!isEnabled || !isOpen || step?.role !== 'assistant' || first in BLOCKS) return null
  return [
    `Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\`.`,
    'When `thinking` is enabled, a final `assistant` message must start with a thinking block',
  ].join(' ')
}
