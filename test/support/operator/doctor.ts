/** Doctor's checks, for tests that make what they look at. */
import { reportOf } from '../../../src/server/cli/operator/doctor.ts'
import { examine } from '../../../src/server/cli/operator/doctor/examine.ts'
import type { Finding } from '../../../src/server/cli/operator/doctor/finding.ts'
import type { Look } from '../../../src/server/cli/operator/doctor/look.ts'
import { readFrom, type Generation } from '../../../src/server/config.ts'
import type { Settings } from '../nodes/node.ts'
import { until } from '../wait.ts'

export function generationOf(settings: Settings): Generation {
  // As in the environment: an empty text counts as unset.
  const reading = readFrom(Object.fromEntries(Object.entries(settings).filter(([, text]) => text !== '')))
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems))
  return reading.generation
}

/** Above the product's own: a store that is there is not called away by the slowness of the machine. */
const PATIENT_MS = 30_000

/** Of an installation whose node is not running. */
export function lookFor(settings: Settings, more: Partial<Look> = {}): Look {
  return {
    generation: generationOf(settings),
    running: null,
    runtime: null,
    now: Date.now,
    storeMsMax: PATIENT_MS,
    holderMsMax: PATIENT_MS,
    ...more,
  }
}

export interface Answer {
  readonly all: readonly Finding[]
  /** What is not well. */
  readonly found: readonly Finding[]
  /** For people. */
  readonly text: string
  readonly isWell: boolean
}

/** What is found of a store, or a check, that a busy machine makes too slow. */
const LATE =
  /did not answer in time|CONNECT_TIMEOUT|could not be looked (?:at within|into)|did not load within/

/** All checks at once, none of which was too slow. */
export async function examined(settings: Settings): Promise<Answer> {
  let all: readonly Finding[] = []
  await until('no check is too slow', async () => {
    all = await examine(generationOf(settings))
    return !all.some(({ level, detail }) => level !== 'ok' && LATE.test(detail))
  })
  return { all, found: all.filter(({ level }) => level !== 'ok'), ...reportOf(all) }
}
