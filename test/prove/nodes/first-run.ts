/**
 * From a fresh clone to the first call that the dashboard sees, with the keys of a keyboard alone. The test
 * `dashboard/first-run` does the same from a fresh data directory, so there is no short form among the tests:
 * `npm run prove -- first-run --short` runs one.
 */
import { openWatchedPage } from '../../support/operator/dashboard.ts'
import { copiedCall, firstCallSeen, paste, signInTyped, tabTo } from '../../support/operator/keystrokes.ts'
import { monotonicMs } from '../../support/load/load-plan.ts'
import { nodeSettings, startNode } from '../../support/nodes/node.ts'
import { isOnPath } from '../../support/nodes/outside-stores.ts'
import { openBrowser, skipWithoutBrowser } from '../../support/wire/browser.ts'
import type { Program, Proof } from '../proof.ts'
import { cloned, end, start } from './clone.ts'

/** Milliseconds from the clone to the first call, where the registry is near. */
const FIRST_CALL_MS_MAX = 300_000

export const program: Program = {
  text: 'a fresh clone with an empty HOME, npm start, the page that it prints, three steps by keystrokes: seconds to "first call seen"',
  async run(proof) {
    if (skipWithoutBrowser !== false || !(await isOnPath('git'))) {
      proof.skipped = skipWithoutBrowser === false ? 'git is not on the PATH' : skipWithoutBrowser
      return
    }
    const beganAt = monotonicMs()
    const since = (): string => `${((monotonicMs() - beganAt) / 1_000).toFixed(1)} s`
    const words = proof.isShort ? await builtTree(proof) : await freshClone(proof)
    const readyAfter = since()
    const [url, managementKey] = [printed(words, 'Dashboard'), printed(words, 'Management')]
    const { page, seen } = await openWatchedPage(await openBrowser(proof), url)
    await signInTyped(page, { url, managementKey })
    await tabTo(page, /^SELECT.*Provider$/)
    await paste((await copiedCall(page)).call)
    await firstCallSeen(page)
    const found = `ready after ${readyAfter}, first call seen after ${since()}`
    proof.checkTimed('within five minutes', monotonicMs() - beganAt <= FIRST_CALL_MS_MAX, found)
    proof.check('from the printed address to "first call seen" by keystrokes alone', true, found)
    const wrong = [...seen.abroad, ...seen.errors]
    proof.check('the page asks nobody else and has no error', wrong.length === 0, wrong.join('; ') || 'none')
  },
}

/** What `npm start` printed. */
async function freshClone(proof: Proof): Promise<string> {
  const place = { name: 'as this user', uid: process.getuid?.() ?? 0, mode: 0o700 }
  const { child, output } = await start(await cloned(proof, place))
  proof.after(() => end(child))
  return output()
}

async function builtTree(proof: Proof): Promise<string> {
  return (await startNode(proof, await nodeSettings(proof))).output()
}

/** The first word after a name in the output of a start. */
function printed(words: string, name: string): string {
  const found = new RegExp(`^ *${name} +(\\S+)`, 'm').exec(words)?.[1]
  if (found === undefined) throw new Error(`the start does not say ${name}:\n${words}`)
  return found
}
