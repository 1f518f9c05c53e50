/** The way in which tests wait: until something is so. */

/**
 * Looks for what must come, a minute of them where nothing else runs. They are counted, since a busy machine
 * makes both its work and the looks at it slow.
 */
const LOOKS_MAX = 1_200
const STEP_MS = 2
const STEP_MS_MAX = 50
/**
 * Many looks are requests of a node that shares its cores with other tests, or read all of /proc: the rest
 * between two of them is at least so many times as long as the last took.
 */
const REST = 4

type Condition = () => boolean | Promise<boolean>

/**
 * Waits until the condition holds: `until('a front runs', isRunning)`, or without words, when its source text
 * says enough. Throws with the words, or the text, when the condition never holds.
 */
export function until(what: string, is: Condition): Promise<void>
export function until(is: Condition): Promise<void>
export async function until(...given: [string, Condition] | [Condition]): Promise<void> {
  const is = given.length === 2 ? given[1] : given[0]
  let stepMs = STEP_MS
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    const lookedAt = performance.now()
    if (await is()) return
    await pause(Math.max(stepMs, REST * (performance.now() - lookedAt)))
    stepMs = Math.min(1.5 * stepMs, STEP_MS_MAX)
  }
  throw new Error(`never: ${given.length === 2 ? given[0] : is.toString()}`)
}

const STILL_LOOKS = 8
const STILL_STEP_MS = 25

/** Waits until a figure has stood still for some looks: nothing moves it any more. @returns the figure */
export async function still(figure: () => number): Promise<number> {
  let before = figure()
  for (let looks = 0; looks < STILL_LOOKS; looks = before === figure() ? looks + 1 : 0) {
    before = figure()
    await pause(STILL_STEP_MS)
  }
  return before
}

/**
 * Lets time pass. Only for files that the test of the source rules lists with a reason: time is not an input
 * of a test.
 */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
