import { DIALECTS, type Dialect } from '../../../schemas/inference/text-request.ts'
import type { Endpoint, EndpointText } from '../../ports/models/models.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import type { LoopBudget } from '../../structures/loop-budget.ts'
import { Framing } from './framing/framing.ts'
import { nativeWire } from './native-wire.ts'
import { LearnedText, protocolFor } from './spoken.ts'
import { TranslatedWire } from './translated-wire.ts'
import type { Wire, WireOf } from './wire.ts'

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
