/** The forms in which the scenario `chat` calls, and in which its provider answers. */
export type BenchForm = 'chat' | 'messages'

export interface FormFacts {
  /** Behind the origin of a provider; Sluice has the same path behind `/api`. */
  readonly path: string
  /** Bytes of the first event with text. */
  readonly text: string
  /** Bytes of the last event. */
  readonly done: string
}

export const FORMS: Readonly<Record<BenchForm, FormFacts>> = {
  chat: { path: '/v1/chat/completions', text: '"content":"x', done: 'data: [DONE]' },
  messages: { path: '/v1/messages', text: '"text":"x', done: '"message_stop"' },
}

/** The form of the caller, and that of the provider. */
export interface Pair {
  readonly caller: BenchForm
  readonly provider: BenchForm
}

export const NATIVE: readonly Pair[] = [{ caller: 'chat', provider: 'chat' }]
export const TRANSLATED: readonly Pair[] = [
  { caller: 'chat', provider: 'messages' },
  { caller: 'messages', provider: 'chat' },
]

export function isTranslated({ caller, provider }: Pair): boolean {
  return caller !== provider
}

/** Begins the cases of a pair. */
export function pairText(pair: Pair): string {
  return isTranslated(pair) ? `${pair.caller} from ${pair.provider}, ` : ''
}
