import { SentinelConnector, type Redis, type RedisOptions, type SentinelConnectionOptions } from 'ioredis'
import type { Log } from '../ports/observe.ts'

/**
 * Code of TLS with which a Sentinel answers to a connection that ends within the handshake, as the client
 * ends those of its failover detector.
 */
const ENDED_BY_US = 'ERR_SSL_TLSV1_ALERT_DECODE_ERROR'

interface Place {
  readonly host?: string
  readonly port?: number
}

/** What the types of the library hide. */
interface Connects {
  connectToSentinel(place: Place, options?: object): Redis
}

/**
 * Logs when a Sentinel cannot be reached and when it is back, once for a process. The library (5.x) has no
 * listener for the errors of its failover detector, and prints each of them.
 */
export function loggedSentinels(log: Log): NonNullable<RedisOptions['Connector']> {
  const away = new Set<string>()
  const heard = (client: Redis, { host = '', port = 0 }: Place): Redis => {
    const sentinel = `${host}:${port}`
    client.on('error', ({ code, message }: NodeJS.ErrnoException) => {
      if (code === ENDED_BY_US || away.has(sentinel)) return
      away.add(sentinel)
      log.warn('sentinel_away', { sentinel, cause: message })
    })
    client.on('ready', () => {
      if (away.delete(sentinel)) log.info('sentinel_reachable', { sentinel })
    })
    return client
  }
  return class extends SentinelConnector {
    constructor(options: unknown) {
      super(options as SentinelConnectionOptions)
      const own = this as unknown as Connects
      const connect = own.connectToSentinel.bind(this)
      own.connectToSentinel = (place, more) => heard(connect(place, more), place)
    }
  }
}
