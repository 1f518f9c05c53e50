import { connect } from 'node:net'
import { Duplex } from 'node:stream'
import postgres from 'postgres'
import { NoHost } from '../../../schemas/values/store-urls.ts'

/** Milliseconds for which connections that open together share one choice, or one refusal. Decision. */
const CHOICE_MS = 500
/** Error code for a server that does not match `target_session_attrs`. */
export const WRONG_SESSION = 'WRONG_SESSION'

/** Reasons why a host was not chosen, by error code of the library and the system. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses connections',
  CONNECT_TIMEOUT: 'does not answer',
  ETIMEDOUT: 'does not answer',
  ENOTFOUND: 'has an unknown name',
  EAI_AGAIN: 'has a name that cannot be resolved at the moment',
  EHOSTUNREACH: 'cannot be reached',
  ENETUNREACH: 'cannot be reached',
  ECONNRESET: 'closes connections',
  CONNECTION_CLOSED: 'closes connections',
}

export interface HostPlace {
  readonly host: string
  readonly port: number
}

/** State that a host reports. */
export interface HostState {
  readonly isStandby: boolean
  /** True when its sessions begin read-only. */
  readonly isReadOnly: boolean
}

/**
 * Chooses a host for each new connection: the previous one if it still matches `target_session_attrs`,
 * otherwise the first match in order. While no host matches, the library (3.4.9) would try host after host
 * endlessly without a pause, and statements would never fail.
 */
export class HostChoice {
  readonly #places: readonly HostPlace[]
  readonly #session: string | null
  readonly #look: (place: HostPlace) => Promise<HostState>
  #last: HostPlace | null = null
  #choosing: Promise<HostPlace> | null = null
  #isEnded = false

  /** @param session value of `target_session_attrs`; null: any @param look queries the state of a host, and rejects when it does not answer */
  constructor(
    places: readonly HostPlace[],
    session: string | null,
    look: (place: HostPlace) => Promise<HostState>,
  ) {
    this.#places = places
    this.#session = session
    this.#look = look
  }

  /** A connecting socket for the library; when no host is found, a socket that fails with the reason. */
  async socket(): Promise<Duplex> {
    try {
      const { host, port } = await this.#chosen()
      if (this.#isEnded) throw new Error('the Postgres client is closed')
      const socket = connect(port, host).once('error', () => this.forget())
      // From these the library takes the name that the certificate must have.
      return Object.assign(socket, { host, port })
    } catch (problem) {
      return failing(problem as Error)
    }
  }

  /** Makes the next connection choose again. */
  forget(): void {
    this.#choosing = null
  }

  /** The library would keep a connection that opens after the library was closed. */
  end(): void {
    this.#isEnded = true
  }

  #chosen(): Promise<HostPlace> {
    if (this.#choosing !== null) return this.#choosing
    const choosing = this.#choose()
    this.#choosing = choosing
    const end = (): void => {
      setTimeout(() => {
        if (this.#choosing === choosing) this.#choosing = null
      }, CHOICE_MS).unref()
    }
    choosing.then(end, end)
    return choosing
  }

  async #choose(): Promise<HostPlace> {
    const last = this.#last
    const places = last === null ? this.#places : [last, ...this.#places.filter((place) => place !== last)]
    const problems: Error[] = []
    const reasons: string[] = []
    const add = ({ host, port }: HostPlace, problem: Error): void => {
      problems.push(problem)
      reasons.push(`${host.includes(':') ? `[${host}]` : host}:${port} ${reasonOf(problem)}`)
    }
    let second: HostPlace | null = null
    for (const place of places) {
      try {
        const fit = fitOf(this.#session, await this.#look(place))
        if (fit === 'good') return (this.#last = place)
        if (fit === 'second') second ??= place
        add(place, wrongSession(fit))
      } catch (problem) {
        add(place, problem as Error)
      }
    }
    if (second !== null) return (this.#last = second)
    const wanted = this.#session === null ? 'can be used' : `fits target_session_attrs=${this.#session}`
    throw new NoHost(problems, `no Postgres host ${wanted}: ${reasons.join('; ')}`)
  }
}

/** A socket that accepts the library's first write, which would otherwise be sent on its next socket, and then fails. */
function failing(problem: Error): Duplex {
  return new Duplex({
    read: () => undefined,
    write: (_chunk, _encoding, done) => done(problem),
  })
}

/** `second`: used if no host is better. */
type Fit = 'good' | 'second' | 'standby' | 'primary'

function fitOf(session: string | null, { isStandby, isReadOnly }: HostState): Fit {
  if (session === 'primary') return isStandby ? 'standby' : 'good'
  // If one of two primaries was made read-only by a setting, the other one is chosen; reads continue on a read-only primary.
  if (session === 'read-write') return isStandby ? 'standby' : isReadOnly ? 'second' : 'good'
  if (session === 'standby') return isStandby ? 'good' : 'primary'
  if (session === 'read-only') return isStandby || isReadOnly ? 'good' : 'primary'
  if (session === 'prefer-standby') return isStandby ? 'good' : 'second'
  return 'good'
}

function wrongSession(fit: Fit): Error {
  return Object.assign(new Error(`is a ${fit}`), { code: WRONG_SESSION })
}

function reasonOf(problem: Error): string {
  const code = 'code' in problem ? String(problem.code) : problem.name
  if (code === WRONG_SESSION) return problem.message
  const known = REASONS[code]
  if (known !== undefined) return `${known} (${code})`
  const [line = ''] = problem.message.split('\n')
  return `${problem instanceof postgres.PostgresError ? 'answers' : 'fails'}: ${line === '' ? code : line}`
}
