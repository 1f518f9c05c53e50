/** OpenAI's responses with encrypted reasoning, which has to come back as it was given. */
import { SIGNATURE_FORMATS } from '../../../../src/dialects/prompt/signatures.ts'
import { bodyOf, refusesChat } from '../../../support/inference/fake-chat.ts'
import type { FakeAnswer } from '../../../support/inference/fake-provider.ts'
import { saysResponse, strictResponses } from '../../../support/inference/fake-responses.ts'
import { streams } from '../../../support/inference/fake-stream.ts'
import { named, numbered, RESPONSE, USAGE } from '../../../support/inference/responses-streams.ts'
import type { IssuedSignatures, SeenSignature } from './issued.ts'
import { placeIn, stepAt, type ModelStep } from './steps.ts'

type Members = Readonly<Record<string, unknown>>

export const reasoningOf = (id?: string): Omit<SeenSignature, 'signature'> => ({
  format: SIGNATURE_FORMATS.responses,
  of: 'reasoning',
  ...(id !== undefined && { id }),
})

/** @param by slug of the model */
export function signingResponses(by: string, issued: IssuedSignatures): FakeAnswer {
  return strictResponses((call, reply) => {
    const body = bodyOf(call)
    const items = itemsIn(body)
    const wrong = wrongItems(items) ?? issued.wrongIn(signaturesIn(items), by)
    if (wrong !== null) return refusesChat(400, { message: wrong, param: 'input' })(call, reply)
    const step = stepAt(placeIn(call.body.toString()), issued.mark(by))
    const isKept = ((body['include'] ?? []) as readonly string[]).includes('reasoning.encrypted_content')
    const id = `rs_${step.mark}`
    const encrypted = isKept ? { encrypted_content: issued.sign(by, reasoningOf(id)) } : {}
    const output = outputOf(step, { id, ...encrypted })
    const response = { ...RESPONSE, id: `resp_${step.mark}` }
    const done = {
      ...response,
      status: 'completed',
      completed_at: RESPONSE.created_at + 1,
      output,
      usage: USAGE,
    }
    const answer =
      body['stream'] === true ? streams(named(numbered(eventsOf(response, done)))) : saysResponse(done)
    return answer(call, reply)
  })
}

function outputOf({ mark, thought, text, calls }: ModelStep, reasoning: Members): readonly Members[] {
  const summary = [{ type: 'summary_text', text: thought }]
  const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }]
  const message = { id: `msg_${mark}`, type: 'message', status: 'completed', role: 'assistant', content }
  return [
    { type: 'reasoning', summary, ...reasoning },
    ...(text === null ? [] : [message]),
    ...calls.map(({ name, args }, nth) => ({
      ...{ id: `fc_${mark}_${nth}`, type: 'function_call', status: 'completed', name },
      ...{ call_id: `call_${mark}_${nth}`, arguments: JSON.stringify(args) },
    })),
  ]
}

function eventsOf(response: Members, done: { readonly output: readonly Members[] }): readonly Members[] {
  return [
    { type: 'response.created', response },
    ...done.output.flatMap(itemEvents),
    { type: 'response.completed', response: done },
  ]
}

/** Texts come in two pieces, and what is encrypted with the item that is whole. */
function itemEvents(item: Members, output_index: number): readonly Members[] {
  const at = { item_id: item['id'], output_index }
  const reported = (kind: string, text: string, place: Members): readonly Members[] =>
    [text.slice(0, 4), text.slice(4)].map((piece) => ({
      type: `response.${kind}.delta`,
      ...at,
      ...place,
      delta: piece,
    }))
  const added = (more: Members): Members => {
    const { encrypted_content: _, ...begun } = item
    return { type: 'response.output_item.added', output_index, item: { ...begun, ...more } }
  }
  const end = { type: 'response.output_item.done', output_index, item }
  switch (item['type']) {
    case 'reasoning': {
      const [part] = item['summary'] as readonly { readonly text: string }[]
      const place = { summary_index: 0 }
      return [
        added({ summary: [] }),
        { type: 'response.reasoning_summary_part.added', ...at, ...place, part: { ...part, text: '' } },
        ...reported('reasoning_summary_text', part?.text ?? '', place),
        { type: 'response.reasoning_summary_text.done', ...at, ...place, text: part?.text },
        { type: 'response.reasoning_summary_part.done', ...at, ...place, part },
        end,
      ]
    }
    case 'message': {
      const [part] = item['content'] as readonly { readonly text: string }[]
      const place = { content_index: 0 }
      return [
        added({ content: [], status: 'in_progress' }),
        { type: 'response.content_part.added', ...at, ...place, part: { ...part, text: '' } },
        ...reported('output_text', part?.text ?? '', { ...place, logprobs: [] }),
        { type: 'response.output_text.done', ...at, ...place, text: part?.text, logprobs: [] },
        { type: 'response.content_part.done', ...at, ...place, part },
        end,
      ]
    }
    default: {
      const json = String(item['arguments'])
      return [
        added({ arguments: '', status: 'in_progress' }),
        ...reported('function_call_arguments', json, {}),
        { type: 'response.function_call_arguments.done', ...at, name: item['name'], arguments: json },
        end,
      ]
    }
  }
}

function itemsIn({ input }: Members): readonly Members[] {
  return Array.isArray(input) ? (input as readonly Members[]) : [{ role: 'user', content: input }]
}

function signaturesIn(items: readonly Members[]): readonly SeenSignature[] {
  return items
    .filter(({ type }) => type === 'reasoning')
    .map(({ id, encrypted_content: encrypted }) => ({
      ...reasoningOf(typeof id === 'string' ? id : undefined),
      signature: String(encrypted),
    }))
}

/** @returns the provider's message; null: nothing is wrong */
function wrongItems(items: readonly Members[]): string | null {
  const idsOf = (kind: string): readonly unknown[] =>
    items.filter(({ type }) => type === kind).map(({ call_id: id }) => id)
  const [calls, results] = [idsOf('function_call'), idsOf('function_call_output')]
  const open = calls.find((id) => !results.includes(id))
  if (open !== undefined) return `No tool output found for function call ${String(open)}.`
  const stray = results.find((id) => !calls.includes(id))
  if (stray !== undefined) return `No tool call found for function call output with call_id ${String(stray)}.`
  for (const [nth, { type, id, encrypted_content: encrypted }] of items.entries()) {
    if (type !== 'reasoning') continue
    if (typeof encrypted !== 'string')
      return `Item with id '${String(id)}' not found. Items are not persisted when \`store\` is set to false.`
    if (!isWritten(items[nth + 1]))
      return `Item '${String(id)}' of type 'reasoning' was provided without its required following item.`
  }
  return null
}

/** The model wrote the item. */
function isWritten(item: Members | undefined): boolean {
  const { type = 'message', role } = item ?? {}
  return type === 'function_call' || type === 'reasoning' || (type === 'message' && role === 'assistant')
}
