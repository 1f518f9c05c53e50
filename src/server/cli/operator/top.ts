import type { Command } from 'commander'
import { hasColour, terminalPreferences } from '../../config.ts'
import { runtimeOf } from '../../supervisor/data-directory/data-directory.ts'
import { managementKey } from '../keys/management-key.ts'
import { frameOf } from './top/frame.ts'
import { lookOnce, watchLive, type Watched } from './top/watch.ts'
import { addVerb, CliFailure, loadGeneration, print } from '../parts/verb.ts'

interface Options {
  readonly keyFile?: string
  readonly once?: boolean
  readonly json?: boolean
}

/** Columns of a single print, where no terminal gives a width; some terminals report 0. */
const PRINTED_COLUMNS = 120

/** `top`. */
export function addTop(program: Command): void {
  addVerb(program, 'top', 'show load and problems of the running node, updated every second; q quits')
    .option(
      '--key-file <file>',
      "file with a management key of the operator's organization; default: SLUICE_MANAGEMENT_KEY or the first keys",
    )
    .option('--once', 'print once and exit (implied without a terminal)')
    .action(async (options: Options) => {
      const { dataDir } = loadGeneration().config
      if (runtimeOf(dataDir) === null)
        throw new CliFailure(`no running node uses ${dataDir}, or the node is still starting`)
      const { isDumb } = terminalPreferences()
      const watched: Watched = {
        // A restarted node may have another address.
        adminUrl: () => runtimeOf(dataDir)?.adminUrl ?? null,
        managementKey: managementKey(dataDir, options.keyFile),
        hasColour: hasColour(process.stdout),
      }
      if (process.stdout.isTTY && !isDumb && options.once !== true && options.json !== true)
        return watchLive(watched)
      const view = await lookOnce(watched)
      const columns =
        process.stdout.isTTY && process.stdout.columns > 0 ? process.stdout.columns : PRINTED_COLUMNS
      const frame = frameOf({ view, trouble: null, columns, rows: null, hasColour: watched.hasColour })
      if (options.json === true) print(options, view, '')
      // The frame contains no control characters of others; its colors are Sluice's own.
      else process.stdout.write(`${frame.join('\n')}\n`)
    })
}
