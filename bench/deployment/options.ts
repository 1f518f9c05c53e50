/** Options of the command line of a load test of a running deployment. */
import { numbersText, optionReader } from '../options.ts'
import {
  DEPLOYMENT_CELL_SECONDS_MAX,
  DEPLOYMENT_CONNECTIONS_MAX,
  DEPLOYMENT_RATE_DEFAULT,
  DEPLOYMENT_RATE_MAX,
  DEPLOYMENT_SECONDS_MAX,
  DEPLOYMENT_UPLOAD_BYTES_MAX,
  DEPLOYMENT_UPLOADS_PER_S_MAX,
} from './limits.ts'
import { issuersOf, keyOf, originOf } from './origin.ts'
import { DEPLOYMENT_LOADS, secondsOf, type DeploymentOptions } from './plan.ts'

/** A model of every node, which the node computes itself: no call to a provider, and no charge. */
export const FREE_MODEL = 'sluice/lexical-1'

const NUMBERS = {
  rate: [1, DEPLOYMENT_RATE_MAX, DEPLOYMENT_RATE_DEFAULT],
  duration: [1, DEPLOYMENT_CELL_SECONDS_MAX, 10],
  repeats: [1, 20, 1],
  connections: [1, DEPLOYMENT_CONNECTIONS_MAX, 8],
  payload: [1_000, DEPLOYMENT_UPLOAD_BYTES_MAX, 1_000_000],
} as const

const READING = DEPLOYMENT_LOADS.filter((load) => load !== 'uploads')

export const DEPLOYMENT_OPTIONS_TEXT =
  `options: --target https://sluice.example --key KEY|@FILE --only ${READING.join(',')} ${numbersText(NUMBERS)} ` +
  `--model ${FREE_MODEL} --ca FILE --allow-writes --record FILE\n` +
  `never more than ${DEPLOYMENT_RATE_MAX} requests per second, ${DEPLOYMENT_CONNECTIONS_MAX} connections, ${DEPLOYMENT_CELL_SECONDS_MAX} s a cell and ` +
  `${DEPLOYMENT_SECONDS_MAX} s in all; uploads, ${DEPLOYMENT_UPLOADS_PER_S_MAX} a second of at most ${DEPLOYMENT_UPLOAD_BYTES_MAX / 1e6} MB, ` +
  'only with --allow-writes, and removed again; nothing but the target is contacted, and no redirect is followed'

export const readDeploymentOptions = optionReader(
  {
    numbers: NUMBERS,
    lists: { only: DEPLOYMENT_LOADS },
    flags: ['allow-writes'],
    words: ['target', 'key', 'ca', 'model'],
  },
  (given): DeploymentOptions => {
    const options = {
      origin: originOf(given.word('target') ?? ''),
      key: keyOf(given.word('key')),
      issuers: issuersOf(given.word('ca')),
      loads: given.some('only', given.has('allow-writes') ? DEPLOYMENT_LOADS : READING),
      model: given.word('model') ?? FREE_MODEL,
      rate: given.number('rate'),
      seconds: given.number('duration'),
      repeats: given.number('repeats'),
      connections: given.number('connections'),
      payloadBytes: evenly(given.number('payload')),
      json: given.json,
    }
    if (options.loads.includes('uploads') && !given.has('allow-writes'))
      throw new Error('uploads write files: they need --allow-writes')
    const seconds = secondsOf(options)
    if (seconds <= DEPLOYMENT_SECONDS_MAX) return options
    throw new Error(
      `this would take up to ${seconds} s, and ${DEPLOYMENT_SECONDS_MAX} s is the most: a shorter --duration, fewer --repeats or --only some`,
    )
  },
)

/** An even number of bytes, since samples have two. */
function evenly(bytes: number): number {
  return bytes - (bytes % 2)
}
