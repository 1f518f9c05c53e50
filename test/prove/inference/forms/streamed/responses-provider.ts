/** Responses: calls at once, events that repeat others left out. */
import { eventsIn, type Members } from '../../../../support/inference/accumulated.ts'
import { streamOfParts, wholeOfParts } from '../../../../support/inference/written-answers.ts'
import { streamOf, type Chance, type Provider } from './provider-answer.ts'

export const responsesProvider: Provider = (parts, chance) => {
  const events = eventsIn(streamOfParts('responses', parts))
  const whole = wholeOfParts('responses', parts)
  const items = itemsOf(events).map((item) => reported(item, chance))
  const body = runsOf(items).flatMap((run) => chance.merged(run))
  const [head, end] = [events.slice(0, 2), events.slice(-1)]
  return { stream: streamOf([...head, ...body, ...end]), whole, isInOrder: true }
}

/** The events of each item. */
function itemsOf(events: readonly Members[]): readonly (readonly Members[])[] {
  const items: Members[][] = []
  for (const event of events) {
    const { output_index: at } = event
    if (typeof at === 'number') (items[at] ??= []).push(event)
  }
  return items
}

const DELTA = /\.delta$/
const REPEATED = /(?:text|refusal|arguments)\.done$/

/** Small servers send a text once: in fragments, in an event of its own, or in the item alone. */
function reported(events: readonly Members[], chance: Chance): readonly Members[] {
  const isLeft = (name: RegExp): boolean =>
    chance.once(3) && events.some(({ type }) => name.test(String(type)))
  const withoutDeltas = isLeft(DELTA)
  const withoutDone = isLeft(REPEATED)
  return events.filter(({ type }) => {
    if (withoutDeltas && DELTA.test(String(type))) return false
    return !(withoutDone && REPEATED.test(String(type)))
  })
}

/** Calls that follow each other are made at once. */
function runsOf(items: readonly (readonly Members[])[]): readonly (readonly (readonly Members[])[])[] {
  const runs: (readonly Members[])[][] = []
  let wasCall = false
  for (const item of items) {
    const { type } = (item[0]?.['item'] ?? {}) as { readonly type?: string }
    const isCall = type === 'function_call'
    const last = runs.at(-1)
    if (isCall && wasCall && last !== undefined) last.push(item)
    else runs.push([item])
    wasCall = isCall
  }
  return runs
}
