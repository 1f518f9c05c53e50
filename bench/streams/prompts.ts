/** The bodies of the calls of a load test. */
import { readFileSync, statSync } from 'node:fs'
import { isObject } from '../../src/schemas/values/members.ts'
import { DIALECT_FACTS, type Dialect } from './dialects.ts'
import { drawnLength, type Lengths, type Random } from './draws.ts'
import { PROMPTS_BYTES_MAX, PROMPTS_MAX } from './limits.ts'

/** Drawn bodies, or those of a file, one after the other and again from the first. */
export type Prompts =
  | { readonly kind: 'drawn'; readonly prompt: Lengths; readonly answer: Lengths }
  | { readonly kind: 'file'; readonly bodies: readonly string[] }

/** Each is one token in the tokenizers of most models. */
const WORDS = ['the', 'quick', 'brown', 'fox', 'jumps', 'over', 'a', 'lazy', 'dog', 'and', 'runs', 'home']

/** @param random of this cell: the same seed gives the same bodies */
export function* bodiesOf(
  prompts: Prompts,
  { dialect, model, random }: { readonly dialect: Dialect; readonly model: string; readonly random: Random },
): Generator<string, never> {
  const facts = DIALECT_FACTS[dialect]
  for (let nth = 0; ; nth++) {
    if (prompts.kind === 'file') yield prompts.bodies[nth % prompts.bodies.length] ?? ''
    else {
      const prompt = wordsOf(drawnLength(prompts.prompt, random), random)
      const answerTokens = drawnLength(prompts.answer, random)
      yield JSON.stringify({ ...facts.body({ model, prompt, answerTokens }), ...facts.streamed })
    }
  }
}

/** Begins with a random word, so that few prompts share a cached prefix. */
function wordsOf(count: number, random: Random): string {
  const from = Math.floor(random() * 1e9)
  const words = Array.from({ length: count - 1 }, (_, nth) => WORDS[(from + nth) % WORDS.length] ?? '')
  return [`${from.toString(36)}:`, ...words].join(' ')
}

/**
 * Reads NDJSON of bodies. Each is streamed, whatever it says; one without a model gets that of the test.
 * Throws an Error that names the line.
 */
export function promptsOfFile(path: string, dialect: Dialect, model: string): Prompts {
  const lines = textOf(path).split('\n')
  const bodies = lines.flatMap((line, at) => (line.trim() === '' ? [] : [bodyOf(line, at + 1)]))
  if (bodies.length === 0) throw new Error('--prompts: the file has no line with a body')
  if (bodies.length > PROMPTS_MAX) throw new Error(`--prompts: the file has more than ${PROMPTS_MAX} bodies`)
  return { kind: 'file', bodies }

  function bodyOf(line: string, number: number): string {
    let body: unknown
    try {
      body = JSON.parse(line)
    } catch {
      body = null
    }
    if (!isObject(body)) throw new Error(`--prompts: line ${number} is no JSON object`)
    return JSON.stringify({ model, ...body, ...DIALECT_FACTS[dialect].streamed })
  }
}

function textOf(path: string): string {
  try {
    if (statSync(path).size <= PROMPTS_BYTES_MAX) return readFileSync(path, 'utf8')
  } catch {
    throw new Error('--prompts: the file cannot be read')
  }
  throw new Error(`--prompts: the file is larger than ${PROMPTS_BYTES_MAX / 1e6} MB`)
}
