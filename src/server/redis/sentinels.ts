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
  failoverDetector: { cleanup(): void } | null
}

/**
 * A connector that mends two faults of the library (5.11.1). It has no listener for the errors of its failover
 * detector, and prints each of them: here, the log has a line when a Sentinel cannot be reached and when it is
 * back, once for a process. And the detector outlives its connection: when it heard of the new primary while a
 * new connection asked the Sentinels for it, the client ended and never connected again.
 */
export function sentinelConnector(log: Log): NonNullable<RedisOptions['Connector']> {
  const away = new Set<string>()
  const withListeners = (client: Redis, { host = '', port = 0 }: Place): Redis => {
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
      own.connectToSentinel = (place, more) => withListeners(connect(place, more), place)
    }

    override connect(
      ...given: Parameters<SentinelConnector['connect']>
    ): ReturnType<SentinelConnector['connect']> {
      const own = this as unknown as Connects
      own.failoverDetector?.cleanup()
      own.failoverDetector = null
      return super.connect(...given)
    }
  }
}
