import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { plainEnvironment } from '../support/load/load.ts'
import type { Outcome } from './proof.ts'

/** As long as tools/test.mjs gives a file; a front that is replaced stays 12 s by design. */
const TIMEOUT_MS = 1_200_000
const MAIN = fileURLToPath(new URL('./main.js', import.meta.url))

/**
 * Each program in its short form is a test with a process of its own, which it may leave as it likes. What is
 * true at any speed is asserted, what is timed is only shown.
 *
 * @param commands modules below test/prove, with ` --translated` for that form of them
 */
export function shortForms(commands: readonly string[]): void {
  t.setTimeout(TIMEOUT_MS)
  for (const command of commands) void t.test(command, (t) => runShort(t, command))
}

async function runShort(t: Test, command: string): Promise<void> {
  const child = fork(MAIN, [...command.split(' '), '--short', '--suite'], {
    env: plainEnvironment(),
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  const outcome = await new Promise<Outcome | null>((resolve) => {
    // A program may also send messages of its own parts.
    child.on('message', (message: Partial<Outcome>) => {
      if (Array.isArray(message.findings)) resolve(message as Outcome)
    })
    child.once('disconnect', () => resolve(null))
  })
  await ended
  if (outcome === null)
    throw new Error(`it ended with ${child.signalCode ?? child.exitCode}, without findings`)
  const { skipped, findings } = outcome
  if (skipped !== null) t.pass(command, { skip: skipped })
  for (const { text, found, isMet, isTimed } of findings) {
    if (isTimed) t.comment(`${isMet ? 'met' : 'missed on this machine'}: ${text}: ${found}`)
    else t.ok(isMet, `${text}: ${found}`)
  }
}
