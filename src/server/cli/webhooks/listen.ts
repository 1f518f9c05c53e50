import { InvalidArgumentError, type Command } from 'commander'
import { hashOfKey } from '../../../schemas/keys/api-keys.ts'
import { WEBHOOK_EVENTS_BACK_S_MAX } from '../../../schemas/webhooks/webhook-limits.ts'
import { secretGiven } from '../../config.ts'
import { findWorkspace } from '../../store/base/find-workspace.ts'
import { keysOf } from '../keys/key-changes.ts'
import { managementKey } from '../keys/management-key.ts'
import { need, withDatabase } from '../parts/database.ts'
import { addNodeOptions, nodeOrigin, type NodeAddress, type NodeOptions } from '../parts/node-api.ts'
import { readText } from '../parts/text-file.ts'
import { addVerb, CliFailure, countOf, loadGeneration, print, tell } from '../parts/verb.ts'
import { forwardEvents } from './listen/forward-events.ts'
import { forwardedLine } from './listen/forwarded-line.ts'
import { shownSecrets } from './shown-secrets.ts'

interface Options extends NodeOptions {
  readonly json?: boolean
  readonly workspace?: string
  readonly secretFile?: string
  readonly since: number
  readonly count?: number
}

/** `listen`: exit code 1 where an event was not verified. */
export function addListen(program: Command, outcome: { code: number | null }): void {
  const verb = addVerb(
    program,
    'listen',
    'forward webhooks of a workspace to a receiver on this machine and verify both signatures of each',
  )
    .argument('<to>', 'port on this machine, or URL such as http://127.0.0.1:3000/hooks', receiverOf)
    .option('--workspace <ref>', 'workspace id or slug; default: the default workspace')
    .option(
      '--secret-file <file>',
      'file with the signing secret; default: SLUICE_WEBHOOK_SECRET, or the secret of the node on this machine',
    )
    .option('--since <seconds>', 'begin with the events of the last seconds', secondsOf, 0)
    .option('--count <count>', 'exit after this many events', countOf)
  addNodeOptions(verb).action(async (to: URL, options: Options) => {
    const { dataDir } = loadGeneration().config
    const node = { origin: nodeOrigin(options, dataDir), key: managementKey(dataDir, options.keyFile) }
    const secrets = await secretsOf(options, node.key)
    const { workspace, since, count = Infinity } = options
    if (secrets.length === 0) tell(options, { warning: UNVERIFIED }, `warning: ${UNVERIFIED}`)
    tell(
      options,
      { listening: workspace ?? null, to: to.href },
      `forwarding webhooks of ${workspace ?? 'the default workspace'} to ${to.href}; press Ctrl-C to stop`,
    )
    await forwardEvents({
      node,
      workspace: workspace ?? null,
      to,
      secrets,
      backS: since,
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

/** A named node is not asked for its secret: no call of the API tells it. */
async function secretsOf(
  { secretFile, url, workspace }: Options,
  key: NodeAddress['key'],
): Promise<readonly string[]> {
  if (secretFile !== undefined) return [checkedSecret(secretFile, readText(secretFile))]
  const given = secretGiven('SLUICE_WEBHOOK_SECRET')
  if (given !== null) return [checkedSecret('SLUICE_WEBHOOK_SECRET', given.reveal())]
  if (url !== undefined) return []
  return withDatabase(async (database) => {
    // The node looks in the organization of the key, too: slugs are unique within one alone.
    const hash = hashOfKey(key.reveal())
    const lookup = { name: hash, list: 'keys list' }
    const { organizationId } = need(await keysOf(database).get({ organizationId: null, hash }), lookup)
    const found = need(await findWorkspace(database.store.sql, workspace ?? null, organizationId))
    return (await shownSecrets(database, found)).map(({ text }) => text)
  })
}

/** No error shows any of the text. */
function checkedSecret(where: string, text: string): string {
  const secret = text.trim()
  if (/^whsec_[A-Za-z0-9+/]{16,}={0,2}$/.test(secret)) return secret
  throw new CliFailure(`${where} contains no signing secret: \`sluice webhooks secret show\` prints it`)
}

const PORT = /^\d{1,5}$/
const PORT_MAX = 65_535

/** Parses the receiver. */
function receiverOf(text: string): URL {
  if (PORT.test(text) && Number(text) > 0 && Number(text) <= PORT_MAX)
    return new URL(`http://127.0.0.1:${text}/`)
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new InvalidArgumentError('Expected a port, or an address such as http://127.0.0.1:3000/hooks.')
  return url
}

function secondsOf(text: string): number {
  const seconds = Number(text)
  if (!/^\d{1,5}$/.test(text) || seconds > WEBHOOK_EVENTS_BACK_S_MAX)
    throw new InvalidArgumentError(`Expected a number of seconds from 0 to ${WEBHOOK_EVENTS_BACK_S_MAX}.`)
  return seconds
}
