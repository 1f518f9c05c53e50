/** A conversation of five turns, and what was wrong with it. */
import { KEY } from '../../../support/front.ts'
import type { Converser } from './callers/converser.ts'
import type { IssuedSignatures } from './issued.ts'
import type { SigningModel } from './models.ts'
import type { ModelAt } from './routes.ts'
import { TURNS } from './steps.ts'
import { watched, type Left, type WatchedCall } from './watched.ts'

export interface SigningWorld {
  /** Address of the API, with its prefix. */
  readonly base: string
  readonly issued: IssuedSignatures
  readonly models: readonly SigningModel[]
}

export interface Cell {
  readonly caller: Converser
  readonly isStream: boolean
  readonly at: ModelAt
}

export interface Conversed {
  /** Null: nothing. */
  readonly wrong: string | null
  /** That models have given. */
  readonly signatures: number
  readonly calls: number
}

/** Everything of the conversation goes back at each step; whatever a model refuses ends it. */
export async function converse(
  { base, issued, models }: SigningWorld,
  { caller, isStream, at }: Cell,
): Promise<Conversed> {
  issued.clear()
  const byName = new Map(models.map((model) => [nameOf(model), model]))
  const { fetch, calls } = watched((name) => {
    const model = byName.get(name)
    return model === undefined ? 'may' : leftAt(model, issued)
  })
  const conversation = await caller.begin({ base, key: KEY, isStream, fetch })
  let wrong: string | null = null
  try {
    for (let turn = 0; turn < TURNS; turn++) await conversation.turn(turn, (step) => nameOf(at(turn, step)))
  } catch (problem) {
    wrong = problem instanceof Error ? problem.message : String(problem)
  }
  return { wrong: wrong ?? wrongDrop(calls), signatures: issued.count, calls: calls.length }
}

function nameOf({ slug }: SigningModel): string {
  return `prove/${slug}`
}

/** What one maker's model has signed at another provider comes as far as the caller's form has a place for it. */
function leftAt({ slug, format }: SigningModel, issued: IssuedSignatures): Left {
  if (format === null || !issued.hasOthers(slug, null)) return 'never'
  return issued.hasOthers(slug, format) ? 'must' : 'may'
}

/** Reasoning is named as left out where there is such, and nowhere else. */
function wrongDrop(calls: readonly WatchedCall[]): string | null {
  const isWrong = { must: false, may: null, never: true }
  const at = calls.findIndex(({ isNamed, left }) => isNamed === isWrong[left])
  const call = calls[at]
  if (call === undefined) return null
  return `call ${at} at ${call.model} ${call.isNamed ? 'names' : 'does not name'} reasoning as left out`
}
