/** A provider that dies anywhere in its answer: another one answers, or the caller gets the true error. */
import { API_PREFIX } from '../../../src/schemas/api-prefix.ts'
import { BYTES_PER_TOKEN } from '../../../src/schemas/inference/token-limits.ts'
import { KEY } from '../../support/front.ts'
import { bodyOf, streams } from '../../support/inference/fake-stream.ts'
import type { Program, Proof } from '../proof.ts'
import type { ChatClient, Seen } from './clients/client.ts'
import { deathsOf, ENDINGS, type Death } from './streams/deaths.ts'
import { DIALECTS } from './dialects/dialects.ts'
import { pairsOf } from './dialects/pairs.ts'
import type { ProvedDialect } from './dialects/proved-dialect.ts'
import { together } from './streams/faults.ts'
import { CALLERS, openStand, type ReadStream, type StreamStand } from './streams/stream-stand.ts'

/** A closed front keeps some MiB of its process, and each cell has its own. */
const ROUNDS = { full: 5, short: 1 }
const AT_ONCE = 10
/** Milliseconds of the clock of a provider that stalls. */
const CLOCK_MS = 3_000
/** Failures that open the breaker of every endpoint, and some more. */
const CALLS_MAX = 16
const PROBES_MAX = 3
const OTHER_WORDS = ['Another', ' answers', ' 😀.']
const ASKED = { model: 'acme/chat', prompt: 'Hello there', isStream: true }

export const program: Program = {
  text: 'a provider that dies at ten places in three ways: another answers, or the caller is told, once',
  async run(proof) {
    const rounds = proof.isShort ? ROUNDS.short : ROUNDS.full
    // Each cell has a front of its own: the short form takes one form of calls, by the seed.
    const one = proof.random(DIALECTS.length)
    const dialects = proof.isShort ? DIALECTS.slice(one, one + 1) : DIALECTS
    for (const dialect of dialects) {
      // Installs them, where they are not there yet.
      await dialect.clientsOf('http://127.0.0.1', KEY)
      for (let round = 0; round < rounds; round++) {
        const deaths = deathsOf(dialect, { words: randomWords(proof), isEachEvent: false })
        await table({
          proof,
          dialect,
          deaths: proof.isShort ? halfOf(proof, deaths) : deaths,
          hasClients: true,
        })
        hasNoEmptyCells(proof, dialect, deaths)
      }
    }
  },
  async translated(proof) {
    for (const dialect of pairsOf(proof)) {
      const deaths = deathsOf(dialect, { words: randomWords(proof), isEachEvent: true })
      if (proof.isShort) {
        await table({ proof, dialect, deaths: someOf(proof, deaths), hasClients: false })
        continue
      }
      await dialect.clientsOf('http://127.0.0.1', KEY)
      await table({ proof, dialect, deaths, hasClients: true })
      hasNoEmptyCells(proof, dialect, deaths)
    }
  },
}

/** Deaths of the short form: every second one, by the seed. */
function halfOf(proof: Proof, deaths: readonly Death[]): readonly Death[] {
  const first = proof.random(2)
  return deaths.filter((_, nth) => nth % 2 === first)
}

/** Deaths of the short form for pairs, which waits for no stalls: one at each place. */
function someOf(proof: Proof, deaths: readonly Death[]): readonly Death[] {
  const quick = deaths.filter(({ ending, isHeadEarly }) => ending !== 'stall' && !isHeadEarly)
  const points = [...new Set(quick.map(({ point }) => point))]
  return points.flatMap((named) => {
    const there = quick.filter(({ point }) => point === named)
    return there.slice(proof.random(there.length)).slice(0, 1)
  })
}

interface Table {
  readonly proof: Proof
  readonly dialect: ProvedDialect
  readonly deaths: readonly Death[]
  /** Clients of other vendors read the streams, too. */
  readonly hasClients: boolean
}

/** What became of each death; a fault begins with its mark. */
type Cells = Map<string, string>
const WRONG = 'WRONG'
/** Reported tokens below one part of so many of the estimate are older than the delivered output. D26. */
const STALE_SHARES = 4

async function table({ proof, dialect, deaths, hasClients }: Table): Promise<void> {
  const cells: Cells = new Map()
  await together(deaths, AT_ONCE, async (death) => {
    const faults: string[] = []
    const reported = await die({ dialect, hasClients }, death, faults)
    cells.set(nameOf(death), faults.length === 0 ? reported : `${WRONG} ${faults.join('; ')}`)
  })
  const points = [...new Set(deaths.map(({ point }) => point))]
  for (const point of points) {
    const row = ENDINGS.map((ending) => [ending, cells.get(nameOf({ point, ending }))] as const)
    const reported = row.flatMap(([ending, cell]) => (cell === undefined ? [] : [`${ending}: ${cell}`]))
    proof.check(`${dialect.name}, dies at: ${point}`, !reported.join().includes(WRONG), reported.join(' | '))
  }
}

function hasNoEmptyCells(proof: Proof, dialect: ProvedDialect, deaths: readonly Death[]): void {
  const cells = new Set(deaths.map(nameOf))
  const points = [...new Set(deaths.map(({ point }) => point))]
  const hard = points.flatMap((point) => ENDINGS.slice(0, 3).map((ending) => nameOf({ point, ending })))
  const empty = hard.filter((name) => !cells.has(name))
  proof.check(`${dialect.name}: a table without empty cells`, empty.length === 0, `${hard.length} cells`)
}

function nameOf({ point, ending }: Pick<Death, 'point' | 'ending'>): string {
  return `${point}, ${ending}`
}

/** At least four words; the third has a character of four bytes. */
function randomWords(proof: Proof): readonly string[] {
  const word = (): string => [' é', ' "a"\n', ' [DONE]', ' data: {}', ' wörd'][proof.random(5)] ?? ''
  const more = Array.from({ length: 1 + proof.random(4) }, word)
  return [`One${word()}`, word(), `${word()}€😀${word()}`, ...more]
}

/** @param faults gets what is wrong @returns what the cell of the table says */
async function die(
  { dialect, hasClients }: Pick<Table, 'dialect' | 'hasClients'>,
  death: Death,
  faults: string[],
): Promise<string> {
  // The other clock must not run out on a machine that is busy.
  const clock = death.fate === 'another answers' ? { first_output_ms: CLOCK_MS } : { stall_ms: CLOCK_MS }
  const stand = await openStand({
    providers: dialect.facts,
    ...(death.isHeadEarly ? { streamHoldMs: 0 } : null),
    ...(death.ending === 'stall' ? { firstProvider: clock } : null),
  })
  try {
    stand.second.usually(streams(dialect.streamOf(OTHER_WORDS)))
    death.meets(stand.first)
    const clients = hasClients ? await dialect.clientsOf(`${stand.url}${API_PREFIX}`, KEY) : []
    // All have begun before the breaker learns.
    const [reads] = await Promise.all([
      Promise.all(CALLERS.map((caller) => stand.call(dialect, { caller }))),
      Promise.all(
        clients.map(async (client) => faults.push(...seenBy(client, await client.ask(ASKED), death))),
      ),
    ])
    for (const read of reads) faults.push(...faultsOf(dialect, read, death))
    const learned = await learns(stand, dialect, { death, faults, calls: reads.length + clients.length })
    const { fate } = death
    const rest = await stand.rest().catch(() => 'calls that never end')
    if (rest !== 0) faults.push(`left behind: ${rest}, ${JSON.stringify(stand.egress.load)}`)
    faults.push(...chargesOf(stand, death, learned.made))
    return `${fate}, ${learned.reported}`
  } finally {
    await stand.close()
  }
}

/** What is wrong with what a caller got. */
function faultsOf(dialect: ProvedDialect, read: ReadStream, death: Death): readonly string[] {
  const { fate, text } = death
  const { status, headers, isComplete } = read
  if (status !== 200) return [`status ${status}: ${read.text}`]
  const received = dialect.hear(read.text)
  const [by, attempts] = [headers.get('x-sluice-provider'), headers.get('x-sluice-attempts')]
  // Nothing has answered when an early head leaves; a death may come before it all the same.
  const isReported = !death.isHeadEarly || by !== null
  if (!isReported && received.silences === 0) return ['a head without an endpoint, and no comment']
  const found = {
    ...(isReported ? { by, attempts } : null),
    text: received.text,
    errors: received.errors,
    isTerminated: received.isTerminated,
    isComplete,
  }
  const isWhole = fate !== 'told'
  const isFirst = fate !== 'another answers'
  const expected: typeof found = {
    ...(isReported ? { by: isFirst ? 'first' : 'second', attempts: isFirst ? '1' : '2' } : null),
    text: isFirst ? text : OTHER_WORDS.join(''),
    errors: isWhole ? 0 : 1,
    isTerminated: isWhole,
    isComplete: isWhole,
  }
  return JSON.stringify(found) === JSON.stringify(expected) ? [] : [JSON.stringify(found)]
}

/** A client raises where the stream is not whole, with all words before in hand. */
function seenBy({ name }: ChatClient, seen: Seen, { fate, text }: Death): readonly string[] {
  const expected = fate === 'another answers' ? OTHER_WORDS.join('') : text
  const isRaised = seen.error !== null
  return seen.text === expected && isRaised === (fate === 'told') ? [] : [`${name}: ${JSON.stringify(seen)}`]
}

interface Learning {
  readonly death: Death
  readonly faults: string[]
  /** Made so far. */
  readonly calls: number
}

interface Learned {
  readonly made: number
  readonly reported: string
}

/** The breaker opens, and the next call leaves the endpoint out; after a whole answer it stays closed. */
async function learns(
  stand: StreamStand,
  dialect: ProvedDialect,
  { death, faults, calls }: Learning,
): Promise<Learned> {
  const isOpened = (): boolean => stand.breakers().some(({ provider }) => provider === 'first')
  let made = calls
  for (; !isOpened() && made < CALLS_MAX; made++) {
    const caller = CALLERS[made % CALLERS.length] ?? CALLERS[0]
    faults.push(...faultsOf(dialect, await stand.call(dialect, { caller }), death))
  }
  if (death.fate === 'whole') {
    if (isOpened()) faults.push('the breaker opened')
    return { made, reported: `${made} calls, closed` }
  }
  if (!isOpened()) faults.push(`the breaker is closed behind ${made} calls`)
  if (!(await isLeftOut(stand, dialect))) faults.push('behind its opening it is tried again')
  return { made, reported: `open behind ${made}` }
}

/**
 * A call goes to another endpoint at once. The first one may come after the rest of the breaker, and probe;
 * the next one of the same caller then does not.
 */
async function isLeftOut({ log, call }: StreamStand, dialect: ProvedDialect): Promise<boolean> {
  const failed = (): number => log.events.filter(({ event }) => event === 'upstream.attempt_failed').length
  for (let tries = 0; tries < PROBES_MAX; tries++) {
    const before = failed()
    const { text } = await call(dialect)
    if (dialect.hear(text).text !== OTHER_WORDS.join('')) continue
    if (failed() === before) return true
  }
  return false
}

/** Every call is charged to the endpoint whose words the caller got. @param made before the breaker opened */
function chargesOf({ spend }: StreamStand, death: Death, made: number): readonly string[] {
  const isFirst = death.fate !== 'another answers'
  const by = isFirst ? 'first' : 'second'
  const tokens = isFirst ? tokensOf(death) : WHOLE_TOKENS
  return spend.holds.flatMap(({ end }, nth) => {
    if (end === 'open' || end === 'released') return [`call ${nth} is ${end}`]
    if (nth >= made) return []
    const output = end.text?.outputTokens
    if (end.provider === by && output === tokens) return []
    return [`call ${nth} is charged to ${end.provider} for ${output} tokens of ${tokens}`]
  })
}

/** Tokens that every provider reports for a whole answer. */
const WHOLE_TOKENS = 4
/** The event of messages whose figure of the output says nothing of it. */
const PLACEHOLDER = 'message_start'
const TOLDOnce = /"(?:completion_tokens|output_tokens|candidatesTokenCount)":(\d+)/g

/** Tokens of the caller's output: the provider's last figure, unless it has written far more since. D26. */
function tokensOf({ text, sent, fate }: Death): number {
  const estimated = Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)
  const telling = sent.filter(({ event }) => event !== PLACEHOLDER)
  const [, last = '0'] = [...bodyOf(telling).toString().matchAll(TOLDOnce)].at(-1) ?? []
  const reported = Number(last)
  const isOld = fate === 'told' && reported < estimated / STALE_SHARES
  return reported === 0 || isOld ? estimated : reported
}
