import { setTimeout as after } from 'node:timers/promises'
import { InvalidArgumentError, type Command } from 'commander'
import { hashOfKey } from '../../../schemas/keys/api-keys.ts'
import { WEBHOOK_ANSWER_BYTES_MAX, WEBHOOK_ATTEMPT_MS_MAX } from '../../../schemas/webhooks/webhook-limits.ts'
import {
  ListWebhookEventsQuery,
  WebhookEventsAnswer,
  type WebhookEventShape,
} from '../../../schemas/webhooks/operator-webhooks.ts'
import { verifySignatures, type Verified } from '../../../schemas/webhooks/webhook-verification.ts'
import { secretGiven } from '../../config.ts'
import { connectionReason, parsedJson } from '../../supervisor/admin-port/answer-text.ts'
import { callHttp } from '../../supervisor/admin-port/http-call.ts'
import { keysOf } from '../keys/keys.ts'
import { managementKey, readText } from '../keys/management-key.ts'
import { need, withDatabase } from '../parts/database.ts'
import {
  addNodeOptions,
  callNode,
  type NodeAddress,
  NodeAway,
  type NodeOptions,
  nodeOrigin,
} from '../parts/node-api.ts'
import { workspaceOf } from '../parts/places.ts'
import { optionsOf } from '../parts/shape-options.ts'
import { addVerb, CliFailure, countOf, loadGeneration, print, tell } from '../parts/verb.ts'
import { shownSecrets } from './shown-secrets.ts'

interface Options extends NodeOptions {
  readonly json?: boolean
  readonly secretFile?: string
  readonly count?: number
}

const ASKED = optionsOf(ListWebhookEventsQuery, {
  workspace_id: '--workspace <ref>',
  seconds: { flags: '--since <seconds>', about: 'begin with the events of the last seconds' },
})
type Asked = ReturnType<typeof ASKED.from>

/** `listen`: exit code 1 if an event was not genuine. */
export function addTo(program: Command, outcome: { code: number | null }): void {
  const verb = addVerb(
    program,
    'listen',
    'forward webhooks of a workspace to a receiver on this machine and verify both signatures of each',
  )
    .argument('<to>', 'port on this machine, or URL such as http://127.0.0.1:3000/hooks', receiverOf)
    .option(
      '--secret-file <file>',
      'file with the signing secret; default: SLUICE_WEBHOOK_SECRET, or the secret of the node on this machine',
    )
    .option('--count <count>', 'exit after this many events', countOf)
  addNodeOptions(ASKED.addTo(verb)).action(async (to: URL, options: Options) => {
    const { dataDir } = loadGeneration().config
    const node = { origin: nodeOrigin(options, dataDir), key: managementKey(dataDir, options.keyFile) }
    const asked = ASKED.from(options)
    const { workspace_id: workspace } = asked
    const secrets = await secretsOf(options, workspace, node.key)
    const { count = Infinity } = options
    if (secrets.length === 0) tell(options, { warning: UNVERIFIED }, `warning: ${UNVERIFIED}`)
    tell(
      options,
      { listening: workspace ?? null, to: to.href },
      `forwarding webhooks of ${workspace ?? 'the default workspace'} to ${to.href}; press Ctrl-C to stop`,
    )
    await forwardEvents({
      node,
      asked,
      to,
      secrets,
      count,
      onForwarded(forwarded) {
        const { value, text, isGenuine } = forwardedLine(forwarded)
        if (isGenuine === false) outcome.code = 1
        print(options, value, text)
      },
      onTrouble: (message) => tell(options, { warning: message }, `warning: ${message}`),
    })
  })
}

const UNVERIFIED =
  'signatures are not verified: give the workspace secret with --secret-file or SLUICE_WEBHOOK_SECRET'

/** The signing secrets. With `--url` the node is not asked for them: no API call returns a secret. */
async function secretsOf(
  { secretFile, url }: Options,
  workspace: string | undefined,
  key: NodeAddress['key'],
): Promise<readonly string[]> {
  if (secretFile !== undefined) return [checkedSecret(secretFile, readText(secretFile))]
  const given = secretGiven('SLUICE_WEBHOOK_SECRET')
  if (given !== null) return [checkedSecret('SLUICE_WEBHOOK_SECRET', given.reveal())]
  if (url !== undefined) return []
  return withDatabase(async (database) => {
    // As on the node, only the organization of the key is searched: slugs are unique within one organization
    // only.
    const hash = hashOfKey(key.reveal())
    const lookup = { name: hash, list: 'keys list' }
    const { organizationId } = need(await keysOf(database).get({ organizationId: null, hash }), lookup)
    const found = await workspaceOf(database, workspace, { organization: organizationId })
    return (await shownSecrets(database, found)).map(({ text }) => text)
  })
}

/** Checks a signing secret; no error contains any part of it. */
function checkedSecret(where: string, text: string): string {
  const secret = text.trim()
  if (/^whsec_[A-Za-z0-9+/]{16,}={0,2}$/.test(secret)) return secret
  throw new CliFailure(`${where} contains no signing secret: \`sluice webhooks secret show\` prints it`)
}

const PORT = /^\d{1,5}$/
const PORT_MAX = 65_535

function receiverOf(text: string): URL {
  if (PORT.test(text) && Number(text) > 0 && Number(text) <= PORT_MAX)
    return new URL(`http://127.0.0.1:${text}/`)
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new InvalidArgumentError('Expected a port, or an address such as http://127.0.0.1:3000/hooks.')
  return url
}

/** An event that was forwarded, for programs and for people. */
interface ForwardedLine {
  readonly value: object
  readonly text: string
  /** Null: it was not verified. */
  readonly isGenuine: boolean | null
}

/** One line: the time at which the job ended, the job, the receiver's answer, and whether the signatures are genuine. */
function forwardedLine({ event, verified, status, reason }: Forwarded): ForwardedLine {
  const type = typeOf(event.body)
  const isGenuine = verified === null ? null : verified.own && verified.standard
  const signatures = verified === null ? 'not verified' : signatureWords(verified)
  const answered = status === null ? `no answer: ${reason ?? ''}` : `answered ${status}`
  return {
    value: { id: event.id, job_id: event.job_id, type, status, reason, verified },
    text: `${event.created_at}  ${type}  ${event.job_id}  ${answered}  ${signatures}`,
    isGenuine,
  }
}

function signatureWords({ own, standard }: NonNullable<Forwarded['verified']>): string {
  if (own && standard) return 'both signatures valid'
  const forged = [...(own ? [] : ['x-sluice-signature']), ...(standard ? [] : ['webhook-signature'])]
  return `INVALID SIGNATURE: ${forged.join(', ')}`
}

function typeOf(body: string): string {
  const event = parsedJson(body)
  const type: unknown = typeof event === 'object' && event !== null ? Reflect.get(event, 'type') : null
  return typeof type === 'string' ? type : 'an event without a type'
}

/** Milliseconds between two polls for events. Decision. */
const ASK_MS = 1_000
/** Ids of events that are remembered, so that repeated events are recognized. Decision. */
const FORWARDED_IDS_MAX = 10_000

interface Forwarding {
  readonly node: NodeAddress
  readonly asked: Asked
  /** URL of the receiver. */
  readonly to: URL
  /** Texts of signing secrets; empty: nothing is verified. */
  readonly secrets: readonly string[]
  /** Events to forward; Infinity: until the process ends. */
  readonly count: number
  onForwarded(forwarded: Forwarded): void
  /** Called when the node stops answering, once for each outage. */
  onTrouble(message: string): void
}

/** The result of forwarding one event. */
interface Forwarded {
  readonly event: WebhookEventShape
  /** Null: no secret was given. */
  readonly verified: Verified | null
  /** Status of the receiver; null: it did not answer, for `reason`. */
  readonly status: number | null
  readonly reason: string | null
}

/**
 * Asks a node for events of ended jobs and sends each once to a receiver, one after the other. Rejects with
 * CliFailure when the node refuses the request.
 */
async function forwardEvents(forwarding: Forwarding): Promise<void> {
  const { asked, count } = forwarding
  const { seconds: _seconds, ...own } = asked
  const seen = new Set<string>()
  let query: ListWebhookEventsQuery = asked
  for (let forwarded = 0; forwarded < count;) {
    const page = await ask(forwarding, query)
    for (const event of page.data) {
      if (seen.has(event.id)) continue
      remember(seen, event.id)
      forwarding.onForwarded(await forward(forwarding, event))
      if (++forwarded === count) return
    }
    query = { ...own, after: page.next }
    if (!page.has_more) await after(ASK_MS)
  }
}

/** Reads a page of events; retries while the node does not answer. */
async function ask(
  { node, onTrouble }: Forwarding,
  query: ListWebhookEventsQuery,
): Promise<WebhookEventsAnswer> {
  for (let isReported = false; ; isReported = true) {
    try {
      const request = { method: 'GET', path: '/admin/webhooks/events', query } as const
      return await callNode(node, request, WebhookEventsAnswer)
    } catch (problem) {
      if (!(problem instanceof NodeAway)) throw problem
      if (!isReported) onTrouble(problem.message)
      await after(ASK_MS)
    }
  }
}

function remember(seen: Set<string>, id: string): void {
  seen.add(id)
  const [oldest] = seen
  if (seen.size > FORWARDED_IDS_MAX && oldest !== undefined) seen.delete(oldest)
}

/** Forwards an event even if its signature is wrong: how the receiver treats a forged event is part of the test. */
async function forward({ to, secrets }: Forwarding, event: WebhookEventShape): Promise<Forwarded> {
  const body = Buffer.from(event.body)
  const verified = verifiedBy(secrets, event, body)
  try {
    const { status } = await callHttp({
      url: to,
      method: 'POST',
      headers: event.headers,
      body,
      msMax: WEBHOOK_ATTEMPT_MS_MAX,
      bytesMax: WEBHOOK_ANSWER_BYTES_MAX,
    })
    return { event, verified, status, reason: null }
  } catch (cause) {
    const reason = cause instanceof Error ? connectionReason(cause) : String(cause)
    return { event, verified, status: null, reason }
  }
}

/** Checks each form of signature against every secret: while a secret is being replaced, two secrets sign. */
function verifiedBy(
  secrets: readonly string[],
  { headers }: WebhookEventShape,
  body: Uint8Array,
): Verified | null {
  if (secrets.length === 0) return null
  const each = secrets.map((secret) => verifySignatures(secret, { headers, body, nowMs: Date.now() }))
  return { own: each.some(({ own }) => own), standard: each.some(({ standard }) => standard) }
}
