/** The charges of abandoned calls, compared with the count of a provider with a real tokenizer. */
import { CLI } from '../../../support/audit/audit.ts'
import { must } from '../../../support/must.ts'
import { pause } from '../../../support/nodes/spawned.ts'
import { until } from '../../../support/wait.ts'
import { createKey } from '../../../support/keys/make-keys.ts'
import { createOrganization } from '../../../../src/server/store/workspaces/organizations.ts'
import { startSpendStand, type SpendStand } from '../../money/spend/spend-stand.ts'
import { median, type Proof } from '../../proof.ts'
import { rowsOf, type BookedRow } from './booked.ts'
import {
  ANTHROPIC_RULE,
  documentOf,
  GEMINI_RULE,
  markOf,
  OPENAI_RULE,
  pictureOf,
  startCountingProvider,
  type CountedAnswer,
  type CountedPlan,
  type CountingProvider,
  type CountingRule,
} from './counting-provider.ts'
import { PACED_DIALECTS, type PacedDialect } from './dialects.ts'
import {
  documentPart,
  excerpt,
  LANGUAGES,
  picturePart,
  readCorpora,
  textPart,
  type Corpora,
  type Language,
} from './left-prompts.ts'

interface Size {
  /** Of each kind of call in each row. */
  readonly calls: number
  /** Whole calls of an organization at an endpoint, before others are left. */
  readonly taught: number
  readonly hostile: number
  /** Tokens a second. */
  readonly speed: number
  readonly hiddenMax: number
  readonly leavingMsMax: number
}

const FULL: Size = { calls: 24, taught: 12, hostile: 10_000, speed: 90, hiddenMax: 600, leavingMsMax: 8_000 }
const SHORT: Size = { calls: 3, taught: 9, hostile: 50, speed: 250, hiddenMax: 200, leavingMsMax: 1_200 }
/** Of each third call. */
const EARLY_MS = 200
/** Calls at once. */
const PARALLEL = 24
const PROMPT_NANO = 1_000
const COMPLETION_NANO = 2_000
/** Fewer tokens than these differ by their rounding. */
const TOKENS_MIN = 20
const TEXT_APART = 0.25
const MEDIA_APART = 2
const LEAST = 1 / 10
const MOST = 5

const [chat, responses, messages] = PACED_DIALECTS

interface Row {
  readonly rule: CountingRule
  readonly dialect: PacedDialect
}
const ROWS: readonly Row[] = [
  { rule: OPENAI_RULE, dialect: chat },
  { rule: GEMINI_RULE, dialect: chat },
  { rule: OPENAI_RULE, dialect: responses },
  { rule: ANTHROPIC_RULE, dialect: messages },
]

type Kind = 'text' | 'picture' | 'document' | 'reasoning'

interface Estimates {
  readonly proof: Proof
  readonly size: Size
  readonly stand: SpendStand
  readonly provider: CountingProvider
  readonly corpora: Corpora
  /** A key of an organization of each language, and of others. */
  readonly keys: Readonly<Record<Language | 'new' | 'hostile' | 'victim', string>>
}

/** One call that was left. */
interface Left {
  readonly kind: Kind
  readonly row: BookedRow
  readonly answer: CountedAnswer
}

export async function estimates(proof: Proof): Promise<void> {
  const size = proof.isShort ? SHORT : FULL
  const provider = await startCountingProvider()
  proof.after(() => provider.close())
  const stand = await startSpendStand(proof, { fronts: 1, catalogue: catalogueOf(provider.origin) })
  const corpora = await readCorpora()
  const names = ['english', 'code', 'chinese', 'new', 'hostile', 'victim'] as const
  const made = await Promise.all(names.map(async (name) => [name, await keyOf(stand, name)] as const))
  const keys = Object.fromEntries(made) as Estimates['keys']
  const round: Estimates = { proof, size, stand, provider, corpora, keys }
  judge(proof, 'before any call has taught', await leaveAll(round, 'new'))
  await teach(round)
  judge(proof, 'once calls have taught', await leaveAll(round, null))
  await attack(round)
}

async function keyOf({ store }: SpendStand, name: string): Promise<string> {
  const { organization, workspace } = must(await createOrganization(store, { name }))
  const of = { organizationId: organization.id, workspaceId: workspace.id }
  const key = { kind: 'inference', name, ...of, rateLimitRpm: null, expiresAt: null } as const
  return must(await createKey(store, key, CLI)).key
}

function catalogueOf(origin: string): object {
  const pricing = { prompt: (PROMPT_NANO / 1e9).toFixed(9), completion: (COMPLETION_NANO / 1e9).toFixed(9) }
  const rules = [OPENAI_RULE, ANTHROPIC_RULE, GEMINI_RULE]
  return {
    providers: rules.map(({ name }) => ({
      ...{ slug: name, name, protocol: 'openai', base_url: `${origin}/${name}/v1` },
      speaks: PACED_DIALECTS.map((dialect) => dialect.name),
    })),
    models: rules.flatMap(({ name }) =>
      ['writes', 'thinks'].map((what) => ({
        ...{ id: `${name}/${what}`, name: what, context_length: 1_000_000 },
        architecture: { input_modalities: ['text', 'image', 'file'], output_modalities: ['text'] },
        ...(what === 'thinks'
          ? { reasoning: { mandatory: true } }
          : { supported_parameters: ['max_tokens'] }),
        endpoints: [{ provider: name, upstream_model: what, pricing }],
      })),
    ),
  }
}

/** Calls at once, as many as the machine bears. */
async function inTurns<T>(count: number, one: (nth: number) => Promise<T>): Promise<readonly T[]> {
  const done: T[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) {
      const nth = next++
      done[nth] = await one(nth)
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, worker))
  return done
}

function nthOf<T>(all: readonly T[], nth: number): T {
  const one = all[nth]
  if (one === undefined) throw new Error(`there is no number ${nth}`)
  return one
}

interface Asking extends Row {
  readonly id: string
  readonly key: string
  readonly model: 'writes' | 'thinks'
  readonly content: readonly object[]
  readonly plan: CountedPlan
  /** Milliseconds after which the caller leaves, from when the provider has the call; null: it stays. */
  readonly leaves: number | null
  /** Characters above ASCII are written as escapes. */
  readonly isEscaped: boolean
}

async function call({ stand: { stand }, provider }: Estimates, asking: Asking): Promise<void> {
  const { id, key, rule, model, dialect, content, plan, leaves, isEscaped } = asking
  provider.plan(id, plan)
  const turns = [{ role: 'user', content }]
  const asked = dialect.name === 'responses' ? { input: turns } : { messages: turns }
  const max = dialect.name === 'messages' ? { max_tokens: 8_192 } : null
  const json = JSON.stringify({ model: `${rule.name}/${model}`, stream: true, ...asked, ...max })
  const escape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  const leaving = new AbortController()
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-request-id': id }
  const answered = fetch(`http://127.0.0.1:${stand.port}/api/v1${dialect.path}`, {
    ...{ method: 'POST', headers, signal: leaving.signal },
    body: isEscaped ? json.replace(/[\u0080-\uffff]/g, escape) : json,
  }).then((response) => response.text())
  if (leaves === null) {
    const text = await answered
    if (!text.includes('"cost"')) throw new Error(`${id}: ${text.slice(0, 500)}`)
    return
  }
  await until('the provider has the call', () => provider.answers.has(id))
  await Promise.race([pause(leaves), answered.catch(() => undefined)])
  leaving.abort()
  await answered.catch(() => undefined)
}

/** Whole calls of each organization. */
async function teach(round: Estimates): Promise<void> {
  const { proof, size, keys } = round
  const all = ROWS.flatMap((row) =>
    LANGUAGES.flatMap((language) =>
      (['writes', 'thinks'] as const).flatMap((model) =>
        Array.from({ length: size.taught }, (_, nth) => ({ row, language, model, nth })),
      ),
    ),
  )
  await inTurns(all.length, async (at) => {
    const one = nthOf(all, at)
    const id = `taught-${proof.seed}-${at}`
    const { row, language, model } = one
    const answer = excerpt(round, language, 200 + proof.random(300))
    const hidden = model === 'thinks' ? hiddenOf(round) : 0
    const text = `${markOf(id)} ${excerpt(round, language, 600 + proof.random(4_000))}`
    await call(round, {
      ...{ ...row, id, model, key: keys[language], leaves: null, isEscaped: at % 2 === 0 },
      ...{ content: [textPart(row.dialect, text)], plan: { answer, hidden, speed: size.speed } },
    })
  })
}

/** Around half of the most, with few that are far from it. */
function hiddenOf({ proof, size: { hiddenMax } }: Estimates): number {
  return Math.floor((proof.random(hiddenMax) + proof.random(hiddenMax) + hiddenMax) / 3)
}

/** @param key of one organization; null: that of the language of each call */
async function leaveAll(round: Estimates, key: 'new' | null): Promise<readonly Left[]> {
  const { proof, size, stand, provider, keys } = round
  const kinds: readonly Kind[] = ['text', 'picture', 'document', 'reasoning']
  const all = ROWS.flatMap((row) =>
    kinds
      .filter((kind) => kind !== 'document' || row.rule.pageTokens !== null)
      .flatMap((kind) => Array.from({ length: size.calls }, (_, nth) => ({ row, kind, nth }))),
  )
  const calls = await inTurns(all.length, async (at) => {
    const { row, kind, nth } = nthOf(all, at)
    const id = `left-${key ?? 'taught'}-${proof.seed}-${at}`
    const language = key === null ? (LANGUAGES[nth % 3] ?? 'english') : 'english'
    const thinks = kind === 'reasoning'
    await call(round, {
      ...{ ...row, id, key: keys[key ?? language], isEscaped: nth % 2 === 0 },
      ...{
        model: thinks ? ('thinks' as const) : ('writes' as const),
        content: contentOf(round, at, { row, kind, language, id }),
      },
      plan: {
        answer: excerpt(round, language, 3_000),
        ...{ hidden: thinks ? hiddenOf(round) : 0, speed: size.speed },
      },
      leaves: nth % 3 === 0 ? EARLY_MS : EARLY_MS + proof.random(size.leavingMsMax),
    })
    return { id, kind }
  })
  let rows = await rowsOf(stand, calls)
  await until('every call that was left has a row', async () => {
    rows = await rowsOf(stand, calls)
    return rows.size === calls.length
  })
  return calls.flatMap(({ id, kind }) => {
    const [row, answer] = [rows.get(id)?.[0], provider.answers.get(id)]
    return row === undefined || answer === undefined ? [] : [{ kind, row, answer }]
  })
}

interface Content {
  readonly row: Row
  readonly kind: Kind
  readonly language: Language
  readonly id: string
}

function contentOf(round: Estimates, at: number, { row, kind, language, id }: Content): readonly object[] {
  const { proof } = round
  const { dialect, rule } = row
  const chars = kind === 'text' ? 400 + proof.random(8_000) : 200
  const text = textPart(dialect, `${markOf(id)} ${excerpt(round, language, chars)}`)
  if (kind === 'picture') {
    const side = (): number => 640 + proof.random(1_400)
    // Small versions are OpenAI's.
    const isSmall = rule === OPENAI_RULE && at % 4 === 0
    const count = 1 + proof.random(4)
    return [
      text,
      ...Array.from({ length: count }, () => picturePart(dialect, pictureOf(side(), side()), isSmall)),
    ]
  }
  if (kind !== 'document') return [text]
  const pages = 1 + proof.random(8)
  // Real documents have 30 to 80 KB a page.
  return [text, documentPart(dialect, documentOf(pages, pages * (30_000 + proof.random(50_000))))]
}

function costOf(input: number, output: number): number {
  return input * PROMPT_NANO + output * COMPLETION_NANO
}

interface Figures {
  readonly median: number
  readonly p90: number
  readonly count: number
}

/** How far the ratios are from 1, in either direction. */
function apartOf(ratios: readonly number[]): Figures {
  const apart = ratios.map((ratio) => Math.max(ratio, 1 / ratio)).sort((a, b) => a - b)
  return {
    median: median(apart),
    p90: apart[Math.ceil(apart.length * 0.9) - 1] ?? 1,
    count: apart.length,
  }
}

function judge(proof: Proof, when: string, all: readonly Left[]): void {
  const left = all.filter(({ row }) => row.kind === 'estimated')
  const ratios = (of: Kind, ratioOf: (one: Left) => number | null): Figures =>
    apartOf(left.filter(({ kind }) => kind === of).flatMap((one) => ratioOf(one) ?? []))
  const input = ({ row, answer }: Left): number => row.tokens / answer.input
  const output = ({ row, answer }: Left): number | null =>
    answer.output() < TOKENS_MIN ? null : Math.max(row.output, 0.1) / answer.output()
  const reported = ({ median: half, p90, count }: Figures): string =>
    `×${half.toFixed(2)} at the median, ×${p90.toFixed(2)} at p90 of ${count}`
  const texts = ratios('text', input)
  proof.check(
    `${when}: prompts of text are estimated within 25 %`,
    texts.median <= 1 + TEXT_APART,
    reported(texts),
  )
  for (const kind of ['picture', 'document'] as const) {
    const figures = ratios(kind, input)
    const isMet = figures.median <= MEDIA_APART
    proof.check(`${when}: a ${kind} is estimated within a factor of 2`, isMet, reported(figures))
  }
  // What a provider has written when it is cut depends on the time that a front takes to cut it.
  const check = proof.isShort ? proof.checkTimed : proof.check
  const [written, thought] = [ratios('text', output), ratios('reasoning', output)]
  const isNear = written.median <= 1 + TEXT_APART
  check.call(proof, `${when}: answers of text are estimated within 25 %`, isNear, reported(written))
  const isThought = thought.median <= MEDIA_APART
  check.call(
    proof,
    `${when}: hidden reasoning is estimated within a factor of 2`,
    isThought,
    reported(thought),
  )
  const costs = left.map(({ row, answer }) => row.nano / costOf(answer.input, answer.output()))
  const [least, most] = [Math.min(...costs), Math.max(...costs)]
  check.call(
    proof,
    `${when}: no call is charged below a tenth or above five times`,
    least >= LEAST && most <= MOST,
    `${costs.length} calls between ×${least.toFixed(2)} and ×${most.toFixed(2)}; ${all.length - left.length} as reported`,
  )
}

/** The same call of a victim, before and after very many calls of another organization. */
async function attack(round: Estimates): Promise<void> {
  const { proof, size, stand, keys, corpora } = round
  const row: Row = { rule: OPENAI_RULE, dialect: chat }
  // Names of one length: the mark is in the prompt.
  const chargedTo = async (key: 'victim' | 'english', when: 'first' | 'later'): Promise<string> => {
    const id = `${key}-${when}-${proof.seed}`
    const text = `${markOf(id)} ${corpora.english.slice(0, 20_000)}`
    await call(round, {
      ...{ ...row, id, key: keys[key], model: 'writes', leaves: 0, isEscaped: false },
      ...{ content: [textPart(chat, text)], plan: { answer: 'none', hidden: 0, speed: 0 } },
    })
    let rows = await rowsOf(stand, [{ id }])
    await until('the call of the victim has a row', async () => {
      rows = await rowsOf(stand, [{ id }])
      return rows.size === 1
    })
    const [charged] = rows.get(id) ?? []
    return `${charged?.tokens} tokens`
  }
  const before = [await chargedTo('victim', 'first'), await chargedTo('english', 'first')]
  await inTurns(size.hostile, async (nth) => {
    const id = `hostile-${proof.seed}-${nth}`
    // Dense and empty in turn: both are ratios that an ordinary text has, or none.
    const text = nth % 2 === 0 ? ' '.repeat(2_000) : '\u00e9\u4e2d1;'.repeat(300)
    await call(round, {
      ...{ ...row, id, key: keys.hostile, model: 'writes', leaves: null, isEscaped: false },
      ...{ content: [textPart(chat, `${markOf(id)}${text}`)], plan: { answer: 'ok', hidden: 0, speed: 1e6 } },
    })
  })
  const after = [await chargedTo('victim', 'later'), await chargedTo('english', 'later')]
  proof.check(
    `${size.hostile} calls of another organization change nothing`,
    before.join() === after.join(),
    `${before.join(', ')} before; ${after.join(', ')} after`,
  )
}
