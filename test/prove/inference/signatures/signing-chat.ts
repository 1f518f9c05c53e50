/** A server of chat as OpenRouter is: reasoning comes as details, in the manner of its model. */
import { SIGNATURE_FORMATS } from '../../../../src/dialects/prompt/signatures.ts'
import { bodyOf, refusesChat, wholeJson } from '../../../support/inference/fake-chat.ts'
import type { FakeAnswer } from '../../../support/inference/fake-provider.ts'
import { streams, type FakeEvent } from '../../../support/inference/fake-stream.ts'
import type { IssuedSignatures, SeenSignature } from './issued.ts'
import { hiddenThought, thoughtOf } from './signing-messages.ts'
import { reasoningOf } from './signing-responses.ts'
import { placeIn, stepAt, type ModelStep } from './steps.ts'

type Members = Readonly<Record<string, unknown>>
type Details = readonly (Members & { readonly type: string })[]
type Sign = (of: Omit<SeenSignature, 'signature'>) => string

const { messages: CLAUDE, responses: OPENAI, gemini: GEMINI } = SIGNATURE_FORMATS
const HEAD = { object: 'chat.completion', created: 1_795_312_800, model: 'routed', provider: 'Maker' }
const USAGE = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 }

/** Details of a step by the maker of the model. */
const DETAILS: Readonly<Record<string, (step: ModelStep, sign: Sign) => Details>> = {
  'or-claude': ({ thought, hasHidden }, sign) => {
    const signature = sign(thoughtOf(thought))
    const hidden = hasHidden
      ? [{ type: 'reasoning.encrypted', data: sign(hiddenThought), format: CLAUDE }]
      : []
    return [{ type: 'reasoning.text', text: thought, signature, format: CLAUDE }, ...hidden]
  },
  'or-gpt': ({ mark, thought }, sign) => {
    const id = `rs_${mark}`
    const data = sign(reasoningOf(id))
    return [
      { type: 'reasoning.summary', summary: thought, format: OPENAI },
      { type: 'reasoning.encrypted', data, id, format: OPENAI },
    ]
  },
  'or-gemini': (step, sign) => {
    const [first] = step.calls
    const reported = { type: 'reasoning.text', text: step.thought, format: GEMINI }
    // Without calls the signature is that of the text.
    if (first === undefined) {
      const data = sign({ format: GEMINI, of: 'text' })
      return [reported, { type: 'reasoning.encrypted', data, format: GEMINI }]
    }
    const data = sign({ format: GEMINI, of: JSON.stringify([first.name, first.args]) })
    return [reported, { type: 'reasoning.encrypted', data, id: callId(step, 0), format: GEMINI }]
  },
}

export const ROUTED = Object.keys(DETAILS)

/** The model that is asked for says who made it. */
export function signingChat(issued: IssuedSignatures): FakeAnswer {
  return (call, reply) => {
    const body = bodyOf(call)
    const by = String(body['model'])
    const messages = body['messages'] as readonly Members[]
    const wrong = wrongCalls(messages) ?? issued.wrongIn(messages.flatMap(signaturesIn), by)
    if (wrong !== null) return refusesChat(400, { message: wrong, param: 'messages' })(call, reply)
    const step = stepAt(placeIn(call.body.toString()), issued.mark(by))
    const details = DETAILS[by]?.(step, (of) => issued.sign(by, of)) ?? []
    const id = `gen-${step.mark}`
    const answer =
      body['stream'] === true
        ? streams(eventsOf(id, step, details))
        : wholeJson(200, wholeOf(id, step, details))
    return answer(call, reply)
  }
}

/** Longer than OpenAI takes. */
function callId({ mark, calls }: ModelStep, nth: number): string {
  return `tool_${nth}_${calls[nth]?.name}_${mark}_0123456789abcdefghijklmnopqrstuvwxyz`
}

function callsOf(step: ModelStep): readonly Members[] {
  return step.calls.map(({ name, args }, index) => ({
    ...{ index, id: callId(step, index), type: 'function' },
    function: { name, arguments: JSON.stringify(args) },
  }))
}

const finishOf = ({ calls }: ModelStep): string => (calls.length > 0 ? 'tool_calls' : 'stop')

function wholeOf(id: string, step: ModelStep, details: Details): string {
  const message = {
    ...{ role: 'assistant', content: step.text, refusal: null, reasoning: step.thought },
    reasoning_details: details.map((detail, index) => ({ ...detail, index })),
    ...(step.calls.length > 0 && { tool_calls: callsOf(step) }),
  }
  const choices = [{ index: 0, message, logprobs: null, finish_reason: finishOf(step) }]
  return JSON.stringify({ id, ...HEAD, choices, usage: USAGE, system_fingerprint: null })
}

/** Texts come in two pieces, and a signature after its text. */
function eventsOf(id: string, step: ModelStep, details: Details): readonly FakeEvent[] {
  const head = { id, ...HEAD, object: 'chat.completion.chunk' }
  const chunk = (delta: Members, finish: string | null = null): object => ({
    ...head,
    choices: [{ index: 0, delta: { role: 'assistant', ...delta }, finish_reason: finish }],
  })
  const pieces = (text: string): readonly string[] => [text.slice(0, 4), text.slice(4)]
  const deltas: readonly Members[] = [
    ...details.flatMap((detail, index) =>
      fragmentsOf(detail).map((fragment) => ({
        content: '',
        reasoning: fragment['text'] ?? fragment['summary'] ?? '',
        reasoning_details: [{ ...fragment, index }],
      })),
    ),
    ...(step.text === null ? [] : pieces(step.text).map((content) => ({ content }))),
    ...callsOf(step).flatMap(({ function: called, ...call }) => {
      const { name, arguments: json } = called as { readonly name: string; readonly arguments: string }
      const [one = '', other = ''] = pieces(json)
      return [
        { tool_calls: [{ ...call, function: { name, arguments: one } }] },
        { tool_calls: [{ index: call['index'], function: { arguments: other } }] },
      ]
    }),
  ]
  const last = { ...head, choices: [], usage: USAGE }
  const events = [...deltas.map((delta) => chunk(delta)), chunk({ content: '' }, finishOf(step)), last]
  return [...events.map((event) => ({ data: JSON.stringify(event) })), { data: '[DONE]' }]
}

function fragmentsOf({ signature, ...detail }: Members): readonly Members[] {
  const { type, format } = detail
  const member = type === 'reasoning.summary' ? 'summary' : 'text'
  const text = detail[member]
  if (typeof text !== 'string') return [detail]
  const reported = [text.slice(0, 4), text.slice(4)].map((piece) => ({ ...detail, [member]: piece }))
  return signature === undefined ? reported : [...reported, { type, signature, format }]
}

/** The signatures of a message, each with what it stands for there. */
function signaturesIn({ reasoning_details: details, tool_calls: calls }: Members): readonly SeenSignature[] {
  if (!Array.isArray(details)) return []
  return (details as readonly Members[]).flatMap((detail) => {
    const { type, text, signature, data } = detail
    if (type === 'reasoning.text' && typeof signature === 'string') {
      const format = String(detail['format'])
      return { ...thoughtOf(String(text)), format, signature }
    }
    return type === 'reasoning.encrypted' ? { ...encryptedOf(detail, calls), signature: String(data) } : []
  })
}

function encryptedOf({ format, id }: Members, calls: unknown): Omit<SeenSignature, 'signature'> {
  if (format === CLAUDE) return hiddenThought
  if (format === OPENAI) return reasoningOf(typeof id === 'string' ? id : undefined)
  const list = (Array.isArray(calls) ? calls : []) as readonly (Members & { readonly function: Members })[]
  const call = list.find((one) => one['id'] === id)
  if (call === undefined)
    return { format: String(format), of: id === undefined ? 'text' : `no call ${String(id)}` }
  const args: unknown = JSON.parse(String(call.function['arguments']))
  return { format: String(format), of: JSON.stringify([call.function['name'], args]) }
}

/** @returns the provider's message; null: nothing is wrong */
function wrongCalls(messages: readonly Members[]): string | null {
  const calls = messages.flatMap(({ tool_calls: list }) =>
    ((list ?? []) as readonly Members[]).map(({ id }) => String(id)),
  )
  const results = messages.flatMap(({ role, tool_call_id: id }) => (role === 'tool' ? String(id) : []))
  const open = calls.find((id) => !results.includes(id))
  if (open !== undefined)
    return `An assistant message with 'tool_calls' must be followed by tool messages responding to ${open}`
  const stray = results.find((id) => !calls.includes(id))
  return stray === undefined
    ? null
    : `'tool' messages must be a response to a message with 'tool_calls': ${stray}`
}
