import t from 'tap'
import { Proof, runOf, type Program, type ProgramForm } from './proof.ts'

/** As long as tools/test.mjs gives a file; a front that is replaced stays 12 s by design. */
const TIMEOUT_MS = 1_200_000
/** Milliseconds after the last check until a process that is kept alive prints the cause, and ends. */
const LINGERING_MS = 20_000

/**
 * Runs a program in its short form as tests: what is true at any speed is asserted, what is timed is only
 * shown.
 */
export async function short(name: string, program: Program, form: ProgramForm = 'usual'): Promise<void> {
  t.setTimeout(TIMEOUT_MS)
  const seed = Math.floor(Math.random() * 2 ** 31)
  const proof = new Proof({ seed, isShort: true, say: (text) => t.comment(text) })
  const run = runOf(program, form)
  if (run === null) throw new Error(`${name} has no form that is ${form}`)
  t.comment(`npm run prove -- ${name}${form === 'usual' ? '' : ` --${form}`} --short --seed ${seed}`)
  const isOver = failUnlessOver(name)
  await proof.run(run)
  isOver()
  const { skipped } = proof
  if (skipped !== null) t.pass(name, { skip: skipped })
  for (const { text, found, isMet, isTimed } of proof.findings) {
    if (isTimed) t.comment(`${isMet ? 'met' : 'missed on this machine'}: ${text}: ${found}`)
    else t.ok(isMet, `${text}: ${found}`)
  }
  setTimeout(() => {
    t.comment(`still held: ${process.getActiveResourcesInfo().join(', ')}`)
    process.exit()
  }, LINGERING_MS).unref()
  endItself()
}

/**
 * A program that waits for what never comes leaves nothing to do, and its process would end well without a test.
 * @returns to be called when the program has come to its end
 */
function failUnlessOver(name: string): () => void {
  const fail = (): void => {
    process.stderr.write(`${name} waits for what never comes\n`)
    process.exit(1)
  }
  process.once('beforeExit', fail)
  return () => process.off('beforeExit', fail)
}

/**
 * Ends the process once nothing is left to do. Left to itself, Node 20 first closes what handles there are,
 * and of some that stood for killed processes it waits for ever, at full speed.
 */
function endItself(): void {
  let isReported = false
  process.on('beforeExit', () => {
    if (isReported) process.exit()
    isReported = true
    // tap prints its sums in an event of its own kind.
    setImmediate(() => undefined)
  })
}
