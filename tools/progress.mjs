// Shows long steps and their progress on standard error: standard output belongs to the program.

/** Milliseconds between two readings of the progress. */
const LOOK_MS = 500
/** Milliseconds between two lines where no line can be rewritten, so that a log stays short. */
const LINE_MS = 5_000

/** Seconds without progress after which a line says so. */
const QUIET_S = 20

/**
 * Shows the progress of one step: on a terminal one line that is rewritten; elsewhere a line at the start and
 * every five seconds, and one at the end.
 * @param what name of the work, such as `installing the dependencies`
 * @param howFar returns the progress, such as `12 of 400 packages`
 * @param hint what to check when the progress stands still
 * @returns a function that ends the display
 */
export function showProgress(what, howFar, { stream = process.stderr, hint } = {}) {
  const startedAt = performance.now()
  let [far, changedAt] = ['', startedAt]
  const show = (hinted) => {
    const looked = howFar()
    if (looked !== far) [far, changedAt] = [looked, performance.now()]
    const times = { seconds: secondsSince(startedAt), quietSeconds: secondsSince(changedAt) }
    const line = progressLine({ what, far, hint: hinted, ...times })
    stream.write(stream.isTTY ? `\r\x1b[K${line}` : `${line}\n`)
  }
  show(hint)
  const timer = setInterval(() => show(hint), stream.isTTY ? LOOK_MS : LINE_MS)
  return () => {
    clearInterval(timer)
    show()
    if (stream.isTTY) stream.write('\n')
  }
}

/** @param quietSeconds since the progress last changed */
export function progressLine({ what, far, seconds, quietSeconds, hint }) {
  const line = `${what}: ${far}, ${seconds} s`
  return hint === undefined || quietSeconds < QUIET_S
    ? line
    : `${line}; nothing new for ${quietSeconds} s: ${hint}`
}

function secondsSince(from) {
  return Math.round((performance.now() - from) / 1_000)
}

/**
 * Shows the progress of work that reports its steps.
 * @param run receives a function to call with the name of each step as it begins; the first call comes before
 * the first wait
 */
export async function showSteps(what, run, stream = process.stderr) {
  let step = ''
  const running = run((name) => {
    step = name
  })
  const stopShowing = showProgress(what, () => step, { stream })
  try {
    return await running
  } finally {
    stopShowing()
  }
}
