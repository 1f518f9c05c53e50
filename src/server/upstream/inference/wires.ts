import { DIALECTS, type Dialect } from '../../../schemas/inference/text-request.ts'
import type { Endpoint, EndpointText } from '../../ports/models/models.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import { nativeWire } from './native-wire.ts'
import type { Wire, WireOf } from './wire.ts'

/** The wires of an endpoint, made once for all of its calls. */
export function wiresOf(endpoint: Endpoint, text: EndpointText, jobs: ShortJobs): WireOf {
  const wires = new Map<Dialect, Wire>(
    DIALECTS.filter((dialect) => text.speaks.includes(dialect)).map((dialect) => [
      dialect,
      nativeWire(dialect, { endpoint, text, jobs }),
    ]),
  )
  return (dialect) => wires.get(dialect) ?? null
}
