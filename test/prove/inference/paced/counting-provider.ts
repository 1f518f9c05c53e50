/**
 * A provider that counts as real ones do: texts by a real tokenizer, pictures by the rules of their makers. It
 * thinks unseen first, and then writes at a steady pace until it is cut.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { membersOf, type Members } from '../../../../src/schemas/values/members.ts'
import { PACED_DIALECTS, PROMPT_TOKENS, WORD, type PacedDialect } from './dialects.ts'

/** How a provider counts. */
export interface CountingRule {
  /** The first part of its path. */
  readonly name: string
  /** Vocabulary of the tokenizer. */
  readonly encoding: 'o200k_base' | 'cl100k_base'
  picture(width: number, height: number, isSmall: boolean): number
  /** Tokens of a page of a document, with its text; null: not tried. */
  readonly pageTokens: number | null
}

/** What the provider does for a call. */
export interface CountedPlan {
  readonly answer: string
  /** Tokens that it thinks unseen. */
  readonly hidden: number
  /** Tokens a second; 0: it is silent. */
  readonly speed: number
}

export interface CountedAnswer {
  readonly plan: CountedPlan
  input: number
  /** Tokens that were thought and written so far; reads the clock. */
  output(): number
  isOver: boolean
}

interface Encoding {
  encode(text: string): number[]
  decode(tokens: number[]): string
}

/** A page of 1,000 by 1,400 pixels, and its text. */
const PAGE = [1_000, 1_400] as const
const PAGE_TEXT_TOKENS = 500
const pageBy = (picture: CountingRule['picture']): number => PAGE_TEXT_TOKENS + picture(...PAGE, false)

/** Within 2,048, the shorter side at most 768, then tiles of 512. */
function openaiTiles(width: number, height: number, isSmall: boolean): number {
  if (isSmall) return 85
  const fit = Math.min(1, 2_048 / Math.max(width, height))
  const scale = fit * Math.min(1, 768 / (Math.min(width, height) * fit))
  return 85 + 170 * Math.ceil((width * scale) / 512) * Math.ceil((height * scale) / 512)
}

/** The longer side at most 1,568. */
function anthropicArea(width: number, height: number): number {
  const scale = Math.min(1, 1_568 / Math.max(width, height))
  return Math.ceil((width * height * scale * scale) / 750)
}

function geminiTiles(width: number, height: number): number {
  if (Math.max(width, height) <= 384) return 258
  const unit = Math.min(768, Math.max(256, Math.floor(Math.min(width, height) / 1.5)))
  return 258 * Math.ceil(width / unit) * Math.ceil(height / unit)
}

export const OPENAI_RULE: CountingRule = {
  ...{ name: 'tiles', encoding: 'o200k_base', picture: openaiTiles, pageTokens: pageBy(openaiTiles) },
}
export const ANTHROPIC_RULE: CountingRule = {
  ...{ name: 'area', encoding: 'cl100k_base', picture: anthropicArea, pageTokens: pageBy(anthropicArea) },
}
export const GEMINI_RULE: CountingRule = {
  ...{ name: 'crops', encoding: 'o200k_base', picture: geminiTiles, pageTokens: null },
}
const RULES = [OPENAI_RULE, ANTHROPIC_RULE, GEMINI_RULE]

/** Tokens of each message besides its text. */
const MESSAGE_TOKENS = 4
/** Milliseconds between two writes of an answer. */
const WRITE_MS = 50
/** Texts of a request that the model does not read as such. */
const NAMES: ReadonlySet<string> = new Set(['type', 'role', 'model', 'detail', 'media_type', 'filename'])

export interface CountingProvider {
  readonly origin: string
  /** By the mark in the prompt of a call. */
  readonly answers: ReadonlyMap<string, CountedAnswer>
  /** Has the call whose prompt has this mark answered so. */
  plan(mark: string, plan: CountedPlan): void
  close(): Promise<void>
}

/** What stands in a prompt, for the provider to find the plan of the call. */
export const markOf = (id: string): string => `[[${id}]]`

export async function startCountingProvider(): Promise<CountingProvider> {
  const encodings = new Map<string, Encoding>()
  for (const { encoding } of RULES) encodings.set(encoding, await encodingOf(encoding))
  const plans = new Map<string, CountedPlan>()
  const answers = new Map<string, CountedAnswer>()
  const server = createServer((req, res) => {
    void bodyOf(req).then((body) => {
      const mark = /\[\[([\w-]+)\]\]/.exec(body)?.[1] ?? ''
      const rule = RULES.find(({ name }) => req.url?.startsWith(`/${name}/`) === true)
      const dialect = PACED_DIALECTS.find(({ path }) => req.url?.endsWith(path) === true)
      const plan = plans.get(mark)
      const encoding = encodings.get(rule?.encoding ?? '')
      if (rule === undefined || dialect === undefined || plan === undefined || encoding === undefined)
        throw new Error(`no plan for ${req.url} with ${mark}`)
      const input = tokensOf(JSON.parse(body) as Members, { rule, encoding })
      answers.set(mark, answering(res, { dialect, plan, encoding, input }))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answers,
    plan: (mark, plan) => void plans.set(mark, plan),
    close: () =>
      new Promise((closed) => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
}

/** Loaded by a name that the compiler does not follow: only this proof needs the megabytes of its tables. */
async function encodingOf(name: string): Promise<Encoding> {
  return (await import(`gpt-tokenizer/encoding/${name}`)) as Encoding
}

interface Counted {
  readonly rule: CountingRule
  readonly encoding: Encoding
}

function tokensOf(body: Members, of: Counted): number {
  const { messages, input, system, instructions } = body
  const turns = Array.isArray(messages) ? messages : Array.isArray(input) ? input : [input]
  const texts = [...(turns as readonly unknown[]), system, instructions]
  return texts.reduce<number>((sum, one) => sum + within(one, of), MESSAGE_TOKENS * turns.length)
}

function within(value: unknown, of: Counted): number {
  if (typeof value === 'string') return contentTokens(value, of, false)
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + within(one, of), 0)
  const members = membersOf(value)
  const isSmall = members['detail'] === 'low'
  return Object.entries(members).reduce((sum, [name, one]) => {
    if (NAMES.has(name)) return sum
    return sum + (typeof one === 'string' ? contentTokens(one, of, isSmall) : within(one, of))
  }, 0)
}

const PNG = /^(?:data:image\/png;base64,)?(iVBORw0KGgo[\w+/]{24,40})/
const PDF = /^(?:data:application\/pdf;base64,)?(JVBERi[\w+/]{24,40})/

/** A text, or the base64 of a picture or a document. */
function contentTokens(text: string, { rule, encoding }: Counted, isSmall: boolean): number {
  const png = PNG.exec(text)?.[1]
  if (png !== undefined) {
    const head = Buffer.from(png, 'base64')
    return rule.picture(head.readUInt32BE(16), head.readUInt32BE(20), isSmall)
  }
  const pdf = PDF.exec(text)?.[1]
  if (pdf === undefined) return encoding.encode(text).length
  const pages = /pages (\d+)/.exec(Buffer.from(pdf, 'base64').toString('latin1'))?.[1]
  return Number(pages) * (rule.pageTokens ?? 0)
}

/** A picture of this size, of which only the head is one. */
export function pictureOf(width: number, height: number, bytes = 20_000): string {
  const png = Buffer.alloc(bytes, 0x5a)
  png.set(Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'))
  png.writeUInt32BE(width, 16)
  png.writeUInt32BE(height, 20)
  return png.toString('base64')
}

/** A document of so many pages, of which only the head is one. */
export function documentOf(pages: number, bytes: number): string {
  const pdf = Buffer.alloc(bytes, 0x5a)
  pdf.write(`%PDF-1.7 pages ${pages} `, 'latin1')
  return pdf.toString('base64')
}

interface Answering {
  readonly dialect: PacedDialect
  readonly plan: CountedPlan
  readonly encoding: Encoding
  readonly input: number
}

function answering(res: ServerResponse, { dialect, plan, encoding, input }: Answering): CountedAnswer {
  const beganAt = performance.now()
  const tokens = encoding.encode(plan.answer)
  let [written, words, endedAt] = [0, 0, null as number | null]
  const generated = (): number =>
    Math.floor((plan.speed * ((endedAt ?? performance.now()) - beganAt)) / 1_000)
  const answer: CountedAnswer = {
    plan,
    input,
    isOver: false,
    output: () => Math.min(plan.hidden, generated()) + written,
  }
  const counted = (events: string): string =>
    withUsage(events, { input, output: tokens.length, hidden: plan.hidden })
  res.writeHead(200, { 'content-type': 'text/event-stream' })
  res.write(counted(dialect.begin(true)))
  const timer = setInterval(() => {
    const due = Math.min(tokens.length, generated() - plan.hidden)
    if (due > written) {
      const text = encoding.decode(tokens.slice(written, due))
      written = due
      const event = dialect.word(++words).replace(JSON.stringify(WORD), () => JSON.stringify(text))
      res.write(event)
    }
    if (written < tokens.length) return
    answer.isOver = true
    clearInterval(timer)
    res.end(counted(dialect.end(words, tokens.length + plan.hidden)))
  }, WRITE_MS)
  res.on('close', () => {
    endedAt ??= performance.now()
    clearInterval(timer)
  })
  return answer
}

/** The events with these tokens in place of those of a paced answer. */
function withUsage(
  events: string,
  { input, output, hidden }: { readonly input: number; readonly output: number; readonly hidden: number },
): string {
  return events
    .replace(new RegExp(`"(prompt|input)_tokens":${PROMPT_TOKENS}\\b`, 'g'), `"$1_tokens":${input}`)
    .replace(/"total_tokens":\d+/g, `"total_tokens":${input + output + hidden}`)
    .replace(/"reasoning_tokens":\d+/g, `"reasoning_tokens":${hidden}`)
    .replace(/("completion_tokens":\d+)/g, `$1,"completion_tokens_details":{"reasoning_tokens":${hidden}}`)
}

async function bodyOf(req: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of req) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString()
}
