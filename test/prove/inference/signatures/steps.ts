/** What a model thinks, says and calls at each step of a conversation, in no protocol's words. */

export const TURNS = 5

/** A step of the model: an answer that ends a turn, or that calls tools. */
export interface ModelStep {
  /** Stands in every text of the step, and in no other one. */
  readonly mark: string
  readonly thought: string
  /** There is a hidden thought as well, which may not be read. */
  readonly hasHidden: boolean
  /** Null: the step calls tools without a word. */
  readonly text: string | null
  readonly calls: readonly ModelCall[]
}

export interface ModelCall {
  readonly name: string
  readonly args: { readonly of: string }
}

/** Steps of the model in one turn before the last one, and the turn. */
interface Place {
  readonly turn: number
  readonly step: number
}

export const userText = (turn: number): string => `Turn ${turn}.`
export const resultText = ({ turn, step }: Place): string => `Done ${turn}.${step}.`

const USER_TEXT = /\bTurn (\d+)\./g
const RESULT_TEXT = /\bDone (\d+)\.(\d+)\./g

/** Where the conversation of a request is, whatever its form. */
export function placeIn(body: string): Place {
  const turn = Math.max(0, ...[...body.matchAll(USER_TEXT)].map(([, nth]) => Number(nth)))
  const results = [...body.matchAll(RESULT_TEXT)].filter(([, of]) => Number(of) === turn)
  return { turn, step: Math.max(-1, ...results.map(([, , step]) => Number(step))) + 1 }
}

/**
 * Turns with one call and with two at once, with a second step of calls, with and without words next to
 * calls, and with hidden thoughts.
 */
export function stepAt({ turn, step }: Place, mark: string): ModelStep {
  const names = namesAt(turn, step)
  return {
    mark,
    thought: `A thought of ${mark}.`,
    hasHidden: turn % 2 === 1 && step === 0,
    text: names.length === 0 || turn % 2 === 0 ? `A text of ${mark}.` : null,
    calls: names.map((name) => ({ name, args: { of: `${mark} ${name}` } })),
  }
}

function namesAt(turn: number, step: number): readonly string[] {
  if (step === 0) return turn % 2 === 0 ? ['f', 'g'] : ['f']
  return step === 1 && turn % 3 === 0 ? ['g'] : []
}
