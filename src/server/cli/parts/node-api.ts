import { InvalidArgumentError, type Command } from 'commander'
import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { API_PREFIX } from '../../../schemas/api-prefix.ts'
import { FAILURES } from '../../../schemas/failures.ts'
import type { Secret } from '../../../schemas/vault/secret.ts'
import { runtimeOf, runningSupervisor, type Holder } from '../../supervisor/data-directory/data-directory.ts'
import { connectionReason, messageIn, parsedJson } from '../../supervisor/admin-port/answer-text.ts'
import { callHttp, type HttpCallAnswer } from '../../supervisor/admin-port/http-call.ts'
import { CliFailure } from './verb.ts'

export interface NodeOptions {
  readonly url?: URL
  readonly keyFile?: string
}

export function addNodeOptions(verb: Command): Command {
  return verb
    .option('--url <url>', 'URL of the node; default: the node on this machine', originOf)
    .option(
      '--key-file <file>',
      'file with a management key; default: SLUICE_MANAGEMENT_KEY or the first keys',
    )
}

/** A node, and the management key by which a verb calls it. */
export interface NodeAddress {
  readonly origin: string
  readonly key: Secret
}

/** The origin of the named node, else of the node that runs on this machine. Throws CliFailure. */
export function nodeOrigin({ url }: NodeOptions, dataDir: string): string {
  if (url !== undefined) return url.origin
  const runtime = runtimeOf(dataDir)
  if (runtime !== null) return runtime.adminUrl
  throw new CliFailure(
    `no running node uses ${dataDir}, or the node is still starting; to reach another node, use --url https://…`,
  )
}

export interface NodeRequest {
  readonly method: 'GET' | 'POST'
  /** Below `/api/v1`. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | number>>
  readonly body?: unknown
}

/** Milliseconds that a node may take to answer in full: above the deadline of each operation that a verb calls. Decision. */
const ANSWER_MS_MAX = 30_000
/** Bytes that an answer of a node may have. Decision. */
const ANSWER_BYTES_MAX = 64 * 2 ** 20
/** First digits of the statuses of successful answers and of failures of the node. */
const [OK, SERVER] = [2, 5]

/** The node cannot be reached or cannot answer at the moment: the same call may succeed later. */
export class NodeAway extends CliFailure {}

/** Calls an operation of a node. @param shape of the answer. Throws CliFailure with the node's own message, and NodeAway. */
export async function callNode<T extends TSchema>(
  { origin, key }: NodeAddress,
  request: NodeRequest,
  shape: T,
): Promise<Static<T>> {
  const url = new URL(`${origin}${API_PREFIX}${request.path}`)
  for (const [name, value] of Object.entries(request.query ?? {})) url.searchParams.set(name, String(value))
  const { method, body } = request
  const answer = await reach(origin, () =>
    callHttp({
      url,
      method,
      headers: {
        authorization: `Bearer ${key.reveal()}`,
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: Buffer.from(JSON.stringify(body)) }),
      msMax: ANSWER_MS_MAX,
      bytesMax: ANSWER_BYTES_MAX,
    }),
  )
  const digit = Math.floor(answer.status / 100)
  if (digit === OK) return valueOf(answer, shape)
  const message = messageIn(answer.text) ?? `the node returned ${answer.status}`
  const isNotNow = FAILURES.rate_limited.status.some((status) => status === answer.status)
  throw digit === SERVER || isNotNow
    ? new NodeAway(`the node at ${origin}: ${message}`)
    : new CliFailure(message)
}

function valueOf<T extends TSchema>({ text }: HttpCallAnswer, shape: T): Static<T> {
  const value = parsedJson(text)
  if (Compile(shape).Check(value)) return value
  throw new CliFailure('the node sent an unexpected answer: its version may differ from that of this command')
}

async function reach(origin: string, call: () => Promise<HttpCallAnswer>): Promise<HttpCallAnswer> {
  try {
    return await call()
  } catch (cause) {
    const reason = cause instanceof Error ? connectionReason(cause) : String(cause)
    throw new NodeAway(`the node at ${origin} cannot be reached: ${reason}`, { cause })
  }
}

/** Parses `--url`: only its origin is used, so that the base URL of a client works as well. */
function originOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new InvalidArgumentError('Expected an address such as https://ai.acme.example.')
  return url
}

/**
 * The node that runs on a data directory, for a verb that sends it a signal: the signal would end another
 * command that locks the directory, such as a restore. Throws CliFailure when no node runs.
 */
export function runningNode(dataDir: string): Holder {
  const running = runningSupervisor(dataDir)
  if (running?.isVerb === false) return running
  const why = running === null ? '' : `: another command uses the data directory (pid ${running.pid})`
  throw new CliFailure(`no running node uses ${dataDir}${why}`)
}
