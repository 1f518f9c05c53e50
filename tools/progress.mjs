// Says on standard error what takes long, and how far it is: standard output stays that of the program.

/** Milliseconds between two looks at how far it is. */
const LOOK_MS = 500
/** Milliseconds between two lines where nothing can be rewritten: a log is not to be flooded. */
const LINE_MS = 5_000

/**
 * On a terminal one line that is rewritten; elsewhere a line at the start and every five seconds, and one at
 * the end.
 * @param what such as `installing the dependencies`
 * @param howFar such as `12 of 400 packages`
 * @returns ends it
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
 * The same of work that tells its steps.
 * @param run gets what to call with the name of each step as it begins; the first before it waits for
 * anything
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
