/** A provider that dies anywhere in its answer: another one answers, or the caller is told the truth. */
import { API_PREFIX } from '../../../src/schemas/api-prefix.ts'
import { KEY } from '../../support/front.ts'
import { streams } from '../../support/inference/fake-stream.ts'
import type { Program, Proof } from '../proof.ts'
import { streamClients, type Seen, type StreamClient } from './death-clients.ts'
import { deathsOf, ENDINGS, type Death } from './deaths.ts'
import { DIALECTS, type ProvedDialect } from './dialects.ts'
import { together } from './faults.ts'
import { CALLERS, openStand, type ReadStream, type StreamStand } from './stream-stand.ts'

const ROUNDS = { full: 20, short: 1 }
const AT_ONCE = 10
/** Milliseconds of a provider's clocks, where it stalls. */
const CLOCK_MS = 2_000
/** Failures that open the breaker of every endpoint, and some more. */
const CALLS_MAX = 16
const OTHER_WORDS = ['Another', ' answers', ' 😀.']
const MODEL = 'acme/chat'

export const program: Program = {
  text: 'a provider that dies at ten places in three ways: another answers, or the caller is told, once',
  async run(proof) {
    const rounds = proof.isShort ? ROUNDS.short : ROUNDS.full
    for (const dialect of DIALECTS) {
      for (let round = 0; round < rounds; round++) await table(proof, dialect)
    }
  },
}

/** What became of each death; a fault begins with its mark. */
type Cells = Map<string, string>
const WRONG = 'WRONG'

async function table(proof: Proof, dialect: ProvedDialect): Promise<void> {
  const deaths = deathsOf(dialect, randomWords(proof))
  const cells: Cells = new Map()
  await together(deaths, AT_ONCE, async (death) => {
    const faults: string[] = []
    const told = await die(dialect, death, faults)
    cells.set(nameOf(death), faults.length === 0 ? told : `${WRONG} ${faults.join('; ')}`)
  })
  const points = [...new Set(deaths.map(({ point }) => point))]
  for (const point of points) {
    const row = ENDINGS.map((ending) => [ending, cells.get(nameOf({ point, ending }))] as const)
    const told = row.flatMap(([ending, cell]) => (cell === undefined ? [] : [`${ending}: ${cell}`]))
    proof.check(`${dialect.name}, dies at: ${point}`, !told.join().includes(WRONG), told.join(' | '))
  }
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
async function die(dialect: ProvedDialect, death: Death, faults: string[]): Promise<string> {
  const clocks = { first_output_ms: CLOCK_MS, stall_ms: CLOCK_MS }
  const stand = await openStand(death.ending === 'stall' ? { firstProvider: clocks } : {})
  try {
    stand.second.usually(streams(dialect.streamOf(OTHER_WORDS)))
    death.meets(stand.first)
    const clients = await streamClients(`${stand.url}${API_PREFIX}`, KEY)
    // All have begun before the breaker learns.
    const [reads] = await Promise.all([
      Promise.all(CALLERS.map((caller) => stand.call(dialect, { caller }))),
      Promise.all(
        clients.map(async (client) => faults.push(...seenBy(client, await client.read(MODEL), death))),
      ),
    ])
    for (const read of reads) faults.push(...faultsOf(dialect, read, death))
    const learned = await learns(stand, dialect, { death, faults, calls: reads.length + clients.length })
    const { fate } = death
    const heldBytes = await stand.rest()
    if (heldBytes !== 0) faults.push(`${heldBytes} bytes are held`)
    faults.push(...chargesOf(stand, death))
    return `${fate}, ${learned}`
  } finally {
    await stand.close()
  }
}

/** What is wrong with what a caller got. */
function faultsOf(dialect: ProvedDialect, read: ReadStream, { fate, text }: Death): readonly string[] {
  const { status, headers, isComplete } = read
  if (status !== 200) return [`status ${status}: ${read.text}`]
  const heard = dialect.hear(read.text)
  const found = {
    by: headers.get('x-sluice-provider'),
    attempts: headers.get('x-sluice-attempts'),
    text: heard.text,
    errors: heard.errors,
    isTerminated: heard.isTerminated,
    isComplete,
  }
  const isWhole = fate !== 'told'
  const isFirst = fate !== 'another answers'
  const expected: typeof found = {
    by: isFirst ? 'first' : 'second',
    attempts: isFirst ? '1' : '2',
    text: isFirst ? text : OTHER_WORDS.join(''),
    errors: isWhole ? 0 : 1,
    isTerminated: isWhole,
    isComplete: isWhole,
  }
  return JSON.stringify(found) === JSON.stringify(expected) ? [] : [JSON.stringify(found)]
}

/** A client raises where the stream is not whole, with all words before in hand. */
function seenBy({ name }: StreamClient, seen: Seen, { fate, text }: Death): readonly string[] {
  const expected = fate === 'another answers' ? OTHER_WORDS.join('') : text
  const isRaised = seen.raised !== null
  return seen.text === expected && isRaised === (fate === 'told') ? [] : [`${name}: ${JSON.stringify(seen)}`]
}

interface Learning {
  readonly death: Death
  readonly faults: string[]
  /** Made so far. */
  readonly calls: number
}

/** The breaker opens, and the next call leaves the endpoint out; behind a whole answer it stays closed. */
async function learns(
  stand: StreamStand,
  dialect: ProvedDialect,
  { death, faults, calls }: Learning,
): Promise<string> {
  const isOpened = (): boolean => stand.breakers().some(({ provider }) => provider === 'first')
  let made = calls
  for (; !isOpened() && made < CALLS_MAX; made++) {
    const caller = CALLERS[made % CALLERS.length] ?? CALLERS[0]
    faults.push(...faultsOf(dialect, await stand.call(dialect, { caller }), death))
  }
  if (death.fate === 'whole') {
    if (isOpened()) faults.push('the breaker opened')
    return `${made} calls, closed`
  }
  if (!isOpened()) faults.push(`the breaker is closed behind ${made} calls`)
  const { headers, text } = await stand.call(dialect)
  const heard = dialect.hear(text)
  if (headers.get('x-sluice-attempts') !== '1' || heard.text !== OTHER_WORDS.join(''))
    faults.push(`behind its opening: ${headers.get('x-sluice-attempts')} attempts, ${text}`)
  return `open behind ${made}`
}

/** Every call is charged to the endpoint whose words the caller got. */
function chargesOf({ spend }: StreamStand, { fate }: Death): readonly string[] {
  const by = fate === 'another answers' ? 'second' : 'first'
  return spend.holds.flatMap(({ end }, nth) => {
    if (end === 'open' || end === 'released') return [`call ${nth} is ${end}`]
    // The last call comes behind the opening of the breaker.
    const isLast = nth === spend.holds.length - 1 && fate === 'told'
    return end.provider === by || isLast ? [] : [`call ${nth} is charged to ${end.provider}`]
  })
}
