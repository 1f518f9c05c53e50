import type { Caller } from '../../../schemas/values/callers.ts'
import type { AnswerRoom, Egress } from '../../ports/egress/egress.ts'
import type { Endpoint, OwnWay, EndpointText } from '../../ports/models/models.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import { LoopBudget } from '../../structures/loop-budget.ts'
import { headerOf, type Credential, type CredentialHeader } from '../credential.ts'
import { ofOwnKey, OwnCredential } from '../endpoints/own-credential.ts'
import { ownAccess } from '../endpoints/own-origin.ts'
import { ProviderLink, type LinkDeps } from '../link.ts'
import { operatorAccess } from '../provider-headers.ts'
import { Echo, EchoHouse, isEcho } from './echo.ts'
import type { WritingProtocol } from './protocol.ts'
import { Drains } from './relay.ts'
import { WritingEndpoint } from './writing-endpoint.ts'
import { DIALECTS, type Dialect } from '../../../schemas/inference/text-request.ts'
import { Framing } from './framing.ts'
import { nativeWire } from './native-wire.ts'
import { LearnedText, protocolFor } from './spoken.ts'
import { TranslatedWire } from './translated-wire.ts'
import type { Wire, WireOf } from './wire.ts'

export interface OpenWriterDeps {
  readonly egress: Pick<Egress, 'trusted' | 'vetted' | 'room'>
  readonly jobs: ShortJobs
  /** What calls to models use of the front's loop; absent: one of its own. */
  readonly loop?: LoopBudget
  /**
   * Keys of the operator by the name of their environment variable; a provider without its key is not used.
   */
  readonly credentials: ReadonlyMap<string, Credential>
}

/** Opens endpoints of models that write; null when the operator's key for the provider is not set. */
export function writerOpener({
  egress,
  jobs,
  loop = new LoopBudget(),
  credentials,
}: OpenWriterDeps): (endpoint: Endpoint) => WritingProtocol | null {
  const house = new EchoHouse(jobs)
  const drains = new Drains()
  return (endpoint) => {
    const { provider, ownWay, text } = endpoint
    if (isEcho(endpoint)) return new Echo(endpoint, house)
    if (text === null || provider.protocol === 'local') return null
    const open: Open = (access, key, credentialHeader = headerOf(provider.protocol)) => {
      const link = new ProviderLink(provider, { ...access, key, credentialHeader })
      const isVetted = ownWay !== undefined && ownWay.destination !== null
      const roomOf = (caller: Caller): AnswerRoom => egress.room(caller, isVetted)
      const wireOf = wiresOf(endpoint, text, { jobs, loop })
      return new WritingEndpoint({ endpoint, text, wireOf, link, drains, loop, roomOf })
    }
    if (ownWay !== undefined) return openOwn(endpoint, ownWay, { egress, open })
    const access = operatorAccess(provider, credentials)
    if (access === null) return null
    return open({ origin: egress.trusted(new URL(provider.baseUrl).origin), extra: access.extra }, access.key)
  }
}

type Open = (
  access: Pick<LinkDeps, 'origin' | 'extra'>,
  key: string | null,
  header?: CredentialHeader,
) => WritingProtocol

/** An endpoint under a workspace's own credential; null when the gate refuses its host or port. */
function openOwn(
  endpoint: Endpoint,
  way: OwnWay,
  { egress, open }: Pick<OpenWriterDeps, 'egress'> & { readonly open: Open },
): WritingProtocol | null {
  const access = ownAccess(endpoint, way, egress)
  if (access === null) return null
  const header = access.keyHeader ?? headerOf(endpoint.provider.protocol)
  const credential = new OwnCredential(way, (secret) => open(access, secret.reveal(), header))
  const isOwnKey = way.destination === null
  return {
    write(attempt) {
      const written = credential.under(attempt.job, (protocol) => protocol.write(attempt))
      return isOwnKey ? written.then((outcome) => ofOwnKey(outcome, way.secretName)) : written
    },
    count(job, media) {
      const counted = credential.under(job, (protocol) => protocol.count(job, media))
      return isOwnKey ? counted.then((outcome) => ofOwnKey(outcome, way.secretName)) : counted
    },
  }
}

/** The wires of an endpoint, made once for all of its calls. */
export function wiresOf(
  endpoint: Endpoint,
  text: EndpointText,
  how: { readonly jobs: ShortJobs; readonly loop: LoopBudget },
): WireOf {
  const learned = new LearnedText(text)
  const wires = new Map<Dialect, Wire>(
    DIALECTS.flatMap((dialect) => {
      const protocol = protocolFor(text, dialect)
      if (protocol === null) return []
      const deps = { endpoint, learned, framing: new Framing(protocol, how), ...how }
      return [
        [
          dialect,
          protocol === dialect ? nativeWire(dialect, deps) : new TranslatedWire(dialect, protocol, deps),
        ],
      ]
    }),
  )
  return (dialect) => wires.get(dialect) ?? null
}
