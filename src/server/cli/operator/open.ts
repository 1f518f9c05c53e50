import { spawn } from 'node:child_process'
import type { Command } from 'commander'
import { DASHBOARD_PATH } from '../../../schemas/api-prefix.ts'
import { runtimeOf } from '../../supervisor/data-directory/data-directory.ts'
import { addVerb, CliFailure, loadGeneration, print, tell } from '../parts/verb.ts'

interface Options {
  readonly json?: boolean
  readonly print?: true
}

/** `open`. */
export function addTo(program: Command): void {
  addVerb(program, 'open', 'open the dashboard of the running node in a browser and print its address')
    .option('--print', 'only print the address (implied without a terminal)')
    .action(async (options: Options) => {
      const { dataDir } = loadGeneration().config
      const runtime = runtimeOf(dataDir)
      if (runtime === null)
        throw new CliFailure(`no running node uses ${dataDir}, or the node is still starting`)
      const url = `${runtime.adminUrl}${DASHBOARD_PATH}`
      print(options, { url }, url)
      if (options.print === true || options.json === true || !process.stdout.isTTY) return
      if (!(await isOpened(url))) tell({}, null, 'no browser found: open the address yourself')
    })
}

/** The program of this system that opens an address in the browser of the user. */
const OPENER = process.platform === 'darwin' ? 'open' : 'xdg-open'

/** Starts the opener and leaves it running: a browser may live longer than the verb. */
function isOpened(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const opener = spawn(OPENER, [url], { stdio: 'ignore', detached: true })
    opener.once('error', () => resolve(false))
    opener.once('spawn', () => {
      opener.unref()
      resolve(true)
    })
  })
}
