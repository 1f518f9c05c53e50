/** Runs one cell in a generator of its own. */
import { fork } from 'node:child_process'
import { isIP } from 'node:net'
import { fileURLToPath } from 'node:url'
import { plainEnvironment } from '../../test/support/load/load.ts'
import type { Place } from '../deployment/ask.ts'
import { liveProgress } from '../keep-record.ts'
import type { StreamsPlan, StreamsResult } from './cell.ts'
import type { LiveLine } from './generator.ts'
import type { StreamsOptions } from './options.ts'

export interface CellRun {
  readonly options: StreamsOptions
  readonly place: Place
  readonly name: string
  readonly ratePerS: number | null
  readonly seed: number
  /** Aborted: no further call begins. */
  readonly signal: AbortSignal
}

export async function runCell({ signal, ...run }: CellRun): Promise<StreamsResult> {
  const child = fork(fileURLToPath(new URL('./generator.js', import.meta.url)), {
    env: plainEnvironment(),
    execArgv: [],
  })
  const stop = (): void => void (child.connected && child.send('stop'))
  signal.addEventListener('abort', stop)
  try {
    return await new Promise<StreamsResult>((resolve, reject) => {
      child.on('message', (message: 'ready' | LiveLine | StreamsResult) => {
        if (message === 'ready') return void (signal.aborted && stop())
        if ('live' in message) liveProgress(message.live)
        else resolve(message)
      })
      child.once('error', reject)
      child.once('exit', (code, by) => reject(new Error(`the generator ended early: ${code ?? by}`)))
      child.send(planOf(run))
    })
  } finally {
    signal.removeEventListener('abort', stop)
    child.kill()
  }
}

function planOf({ options, place, name, ratePerS, seed }: Omit<CellRun, 'signal'>): StreamsPlan {
  const { origin, address, issuers, key } = place
  const { arrivals, basePath, connections, csv, dialect, errorsMax, model, prompts, seconds, slo } = options
  const servername = isIP(origin.hostname) === 0 ? origin.hostname : null
  return {
    place: { address, port: origin.port, tls: origin.isTls ? { servername, ca: issuers } : null },
    authority: origin.authority,
    key,
    basePath,
    dialect,
    model,
    prompts,
    connections,
    arrivals: ratePerS === null ? null : { ratePerS, kind: arrivals },
    seconds,
    seed,
    slo,
    errorsMax,
    csv,
    cell: name,
  }
}
