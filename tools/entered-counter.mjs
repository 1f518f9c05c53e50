// What a front loads before its first module under `node tools/entered.mjs`. At each SIGUSR2 it writes the
// functions of the product that have run since the last one, and holds its timers while there is a file `held`.
import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers'
import { fileURLToPath, pathToFileURL } from 'node:url'

const home = fileURLToPath(new URL('../../', import.meta.url))
let isHeld = false

if (['front', 'spare'].includes(process.argv[2])) {
  for (const name of ['setTimeout', 'setInterval']) globalThis[name] = timers[name] = held(timers[name])
  syncBuiltinESMExports()
  count()
}

/**
 * A timer that is due while timers are held begins again. Otherwise the speed of the machine would decide
 * which timers are due during a call, such as that of the ledger, which writes the calls before it.
 */
function held(start) {
  const wrapped = (run, ms, ...args) => {
    const timer = start(() => (isHeld ? timer.refresh() : run.apply(timer, args)), ms)
    return timer
  }
  // The form that makes a promise is among them.
  return Object.defineProperties(wrapped, Object.getOwnPropertyDescriptors(start))
}

function count() {
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const file = `${home}counts-${process.pid}`
  const root = pathToFileURL(`${home}dist/src/`).href
  process.on('SIGUSR2', () => {
    isHeld = existsSync(`${home}held`)
    session.post('Profiler.takePreciseCoverage', (problem, taken) => {
      writeFileSync(`${file}.new`, JSON.stringify(idsOf(taken.result, root)))
      renameSync(`${file}.new`, file)
    })
  })
}

/** File, name and place of each function that ran. */
function idsOf(scripts, root) {
  return scripts
    .filter(({ url }) => url.startsWith(root))
    .flatMap(({ url, functions }) => {
      const file = url.slice(root.length).replace(/\.js$/, '.ts')
      return functions
        .filter(({ ranges: [whole] }) => whole.count > 0)
        .map(({ functionName, ranges: [whole] }) => `${file} ${functionName} ${whole.startOffset}`)
    })
}
