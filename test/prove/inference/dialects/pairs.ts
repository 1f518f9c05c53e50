/** Callers and providers of different forms: each pair is a row, as a form that both speak is. */
import type { Proof } from '../../proof.ts'
import { TranslatedStream } from '../streams/translated-stream.ts'
import { DIALECTS } from './dialects.ts'
import { gemini } from './gemini-provider.ts'
import type { CallerSide, ProvedDialect, ProviderSide } from './proved-dialect.ts'

const PROVIDERS: readonly ProviderSide[] = [...DIALECTS, gemini]

/** Every caller at every provider of another form. D5. */
export const PAIRS: readonly ProvedDialect[] = DIALECTS.flatMap((caller) =>
  PROVIDERS.filter(({ protocol }) => protocol !== caller.dialect).map((provider) => pairOf(caller, provider)),
)

/** All pairs; in the short form one by the seed. */
export function pairsOf(proof: Pick<Proof, 'isShort' | 'random'>): readonly ProvedDialect[] {
  const one = proof.random(PAIRS.length)
  return proof.isShort ? PAIRS.slice(one, one + 1) : PAIRS
}

function pairOf(
  { dialect, path, request, clientsOf, hear, masked }: CallerSide,
  { protocol, facts, streamOf, placesOf, recorded, endsInOrder, judge, judgeRead }: ProviderSide,
): ProvedDialect {
  return {
    name: `${dialect} at ${protocol}`,
    ...{ dialect, path, request, clientsOf, hear },
    ...{ protocol, facts, streamOf, placesOf, recorded, endsInOrder },
    judge: judgeRead ?? judge,
    skipsUnknown: true,
    masked: (text) => withoutOurs(masked(text)),
    open: () => new TranslatedStream(dialect, protocol),
  }
}

/** Ids and times that a native answer has of its provider, and a translated one of Sluice. D32. */
function withoutOurs(text: string): string {
  return text
    .replace(/"((?:resp|msg|rs|fc)_)[0-9A-Za-z]+/g, '"$1')
    .replace(/"((?:created|completed)_at)":\d+/g, '"$1":0')
}
