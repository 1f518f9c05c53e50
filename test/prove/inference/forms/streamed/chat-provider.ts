/** Chat: calls in any order of their fragments, before or after the text, with or without an index. */
import { eventsIn, type Members } from '../../../../support/inference/accumulated.ts'
import { naturalOf } from '../../../../support/inference/random-parts.ts'
import { streamOfParts, wholeOfParts } from '../../../../support/inference/written-answers.ts'
import { streamOf, type Chance, type Provider } from './provider-answer.ts'

interface Delta {
  readonly tool_calls?: readonly Fragment[]
  readonly reasoning_details?: readonly { readonly id?: string }[]
}

interface Fragment {
  readonly index: number
  readonly id?: string
  readonly type?: string
  readonly function: { readonly name?: string; readonly arguments: string }
}

export const chatProvider: Provider = (made, chance) => {
  const parts = naturalOf('chat', made)
  const events = eventsIn(streamOfParts('chat', parts))
  const last = events.findIndex((event) => choiceOf(event)?.['finish_reason'] !== null)
  const [text, ended] = [events.slice(0, last), events.slice(last)]
  const calls = fragmentsOf(text)
  const first = text.findIndex((event) => deltaOf(event).tool_calls !== undefined)
  const isSigned = parts.some((part) => part.kind === 'signature' && part.of === 'call')
  const whole = wholeOfParts('chat', parts)
  if (calls.length === 0 || isSigned)
    return {
      stream: written([...text.map((event) => padded(event, chance)), ...ended]),
      whole,
      isInOrder: true,
    }
  const [head = {}] = text
  const others = text.slice(0, first).map((event) => padded(event, chance))
  const own = callEvents(calls, chance).map((fragment) => eventOf(head, { tool_calls: [fragment] }))
  const isFirst = chance.once(4)
  const body = isFirst ? [...others.slice(0, 1), ...own, ...others.slice(1)] : [...others, ...own]
  return { stream: written([...body, ...ended]), whole, isInOrder: !isFirst }
}

function written(events: readonly Members[]): Buffer {
  return streamOf(events, 'data: [DONE]\n\n')
}

function choiceOf(event: Members): Members | undefined {
  return (event['choices'] as readonly Members[])[0]
}

function deltaOf(event: Members): Delta {
  return choiceOf(event)?.['delta'] ?? {}
}

function eventOf(event: Members, delta: object): Members {
  return { ...event, choices: [{ index: 0, delta, finish_reason: null }] }
}

/** Servers write lists of calls that are empty, and members that are null. */
function padded(event: Members, chance: Chance): Members {
  const delta = deltaOf(event)
  if (delta.tool_calls !== undefined || !chance.once(3)) return event
  return eventOf(event, { ...delta, tool_calls: chance.once(2) ? [] : null })
}

interface WholeCall {
  readonly id: string
  readonly name: string
  readonly json: string
}

function fragmentsOf(events: readonly Members[]): readonly WholeCall[] {
  const calls: WholeCall[] = []
  for (const event of events)
    for (const { index, id = '', function: called } of deltaOf(event).tool_calls ?? []) {
      const known = calls[index] ?? { id, name: called.name ?? '', json: '' }
      calls[index] = { ...known, json: known.json + called.arguments }
    }
  return calls
}

function callEvents(calls: readonly WholeCall[], chance: Chance): readonly object[] {
  // Without an index calls follow each other.
  if (chance.once(4)) return calls.flatMap(({ id, name, json }) => unindexed({ id, name, json }, chance))
  return chance.merged(calls.map((call, index) => indexed(call, index, chance)))
}

/** The name comes with the id, or after some of the arguments. */
function indexed({ id, name, json }: WholeCall, index: number, chance: Chance): readonly object[] {
  const begin = { index, id, type: 'function' }
  const args = chance.pieces(json).map((piece) => ({ index, function: { arguments: piece } }))
  if (!chance.once(3)) return [{ ...begin, function: { name, arguments: '' } }, ...args]
  const at = chance.below(args.length + 1)
  return [
    { ...begin, function: { arguments: '' } },
    ...args.slice(0, at),
    { index, function: { name } },
    ...args.slice(at),
  ]
}

function unindexed({ id, name, json }: WholeCall, chance: Chance): readonly object[] {
  const args = chance.pieces(json).map((piece) => ({ function: { arguments: piece } }))
  return [{ id, type: 'function', function: { name, arguments: '' } }, ...args]
}
