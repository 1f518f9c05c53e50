/** The rungs of the ladder: the parts of a front in the order in which they are added to a bare relay. */

/** What the callers of a ladder ask for: embeddings, a chat answer that is whole, or the events of a stream. */
export type LadderCall = 'embeddings' | 'whole' | 'event'
/** The ladders of chat, as `--chat` names them. */
export const CHAT_CALLS = ['whole', 'event'] as const satisfies readonly LadderCall[]

export interface Part {
  readonly name: string
  /** What the part is, for readers of the report. */
  readonly text: string
}

/** Each part is the product's own code; below its rung something free stands in its place. */
export const PARTS = [
  {
    name: 'head',
    text: 'listener, head, route table, exchange, body in pieces, reply with its request id and server-timing',
  },
  { name: 'access', text: "the key's hash and record, its kind and scopes" },
  { name: 'rate', text: "the key's rate limit, whose tokens Redis lends" },
  { name: 'body', text: 'the JSON reader and the compiled validator' },
  {
    name: 'routing',
    text: "catalogue, preferences, health, attempts, the provider's request, judgement of its usage",
  },
  { name: 'egress', text: 'the gate: its own client, clocks, bounds and shares of callers' },
  { name: 'scan', text: "the structural pass over the provider's answer" },
  { name: 'splice', text: 'the operation itself: session, hops, model' },
  { name: 'money', text: 'balances, holds and settlements in memory, with what Postgres lends' },
  { name: 'journal', text: 'records of holds and settlements on the local disk' },
  { name: 'ledger', text: "the journal's entries in Postgres" },
  { name: 'log', text: 'the sample of calls, slow calls and failures' },
  { name: 'metrics', text: 'counters and histograms of every stage' },
  { name: 'timers', text: 'deadlines and stalls of the call' },
  { name: 'requests', text: 'the request log: calls as numbers in memory, written to the disk in batches' },
] as const satisfies readonly Part[]
export type PartName = (typeof PARTS)[number]['name'] | 'record'

const TEXTS_OF_CHAT: Readonly<Partial<Record<PartName, string>>> = {
  routing:
    "catalogue, preferences, health, attempts, the provider's request, the walk of its answer, its usage and charge, a stream's own clocks and turns",
  splice: "the operation itself: session, model, the caller's events, usage and cost in the answer",
}
const RECORD: Part = { name: 'record', text: 'the generation record of each call, in Postgres' }

/** The parts of a chat call: its answer has no vectors, and its record is kept. */
export const CHAT_PARTS: readonly Part[] = PARTS.flatMap(({ name, text }): readonly Part[] => {
  if (name === 'scan') return []
  const part = { name, text: TEXTS_OF_CHAT[name] ?? text }
  return name === 'ledger' ? [part, RECORD] : [part]
})

export function partsOf(call: LadderCall): readonly Part[] {
  return call === 'embeddings' ? PARTS : CHAT_PARTS
}

/** Parts that a node has only when it is told to; measured on top of the whole front. */
export const TRACING: Part = { name: 'tracing', text: 'a span for each call, sent to a receiver' }

/** The subject that is a whole node without its request log. */
export const UNLOGGED = 'sluice-unlogged'

/** All subjects of the ladder in their order, as `--only` names them. */
export const SUBJECT_NAMES = [
  'relay',
  'lean-relay',
  ...PARTS.map(({ name }) => name),
  'record',
  'tracing',
  'unlogged',
  'sluice',
] as const satisfies readonly string[]
export type SubjectName = 'relay' | 'lean-relay' | PartName | 'tracing' | 'unlogged' | 'sluice'

export interface Rung {
  /** Name of the subject in rows: `sluice-to-access`. */
  readonly subject: string
  readonly part: Part
  /** The parts of the assembled front. */
  readonly parts: readonly string[]
  /** The subject below, which lacks this part alone; null where none of the chosen is below. */
  readonly below: string | null
}

/** Subjects of rows that are rungs begin so: they are no product that anybody runs. */
export const RUNG_PREFIX = 'sluice-to-'

/** The chosen rungs; a rung whose neighbour was not chosen stands on the next chosen one below. */
export function rungsOf(chosen: readonly string[], call: LadderCall = 'embeddings'): readonly Rung[] {
  const all = partsOf(call)
  const found: Rung[] = []
  let below = chosen.includes('relay') ? 'relay' : null
  all.forEach((part, at) => {
    if (!chosen.includes(part.name)) return
    const subject = RUNG_PREFIX + part.name
    found.push({ subject, part, parts: all.slice(0, at + 1).map(({ name }) => name), below })
    below = subject
  })
  if (chosen.includes(TRACING.name)) {
    const parts = [...all.map(({ name }) => name), TRACING.name]
    found.push({ subject: RUNG_PREFIX + TRACING.name, part: TRACING, parts, below })
  }
  return found
}
