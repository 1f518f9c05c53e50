// Shows long steps and their progress on standard error: standard output belongs to the program.

/** Milliseconds between two readings of the progress. */
const LOOK_MS = 500
/** Milliseconds between two lines where no line can be rewritten, so that a log stays short. */
const LINE_MS = 5_000

/**
 * Shows the progress of one step: on a terminal one line that is rewritten; elsewhere a line at the start and
 * every five seconds, and one at the end.
 * @param what name of the work, such as `installing the dependencies`
 * @param howFar returns the progress, such as `12 of 400 packages`
 * @returns a function that ends the display
 */
export function showProgress(what, howFar, stream = process.stderr) {
  const startedAt = performance.now()
  const text = () => `${what}: ${howFar()}, ${Math.round((performance.now() - startedAt) / 1_000)} s`
  const show = stream.isTTY ? () => stream.write(`\r\x1b[K${text()}`) : () => stream.write(`${text()}\n`)
  show()
  const timer = setInterval(show, stream.isTTY ? LOOK_MS : LINE_MS)
  return () => {
    clearInterval(timer)
    show()
    if (stream.isTTY) stream.write('\n')
  }
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
  const stopShowing = showProgress(what, () => step, stream)
  try {
    return await running
  } finally {
    stopShowing()
  }
}
