/** What a client's calls were answered with, seen between it and the front. */

/** Whether reasoning of models before has to be left out of a call; `may`: it depends on the caller's form. */
export type Left = 'must' | 'may' | 'never'

export interface WatchedCall {
  readonly model: string
  readonly status: number
  /** Reasoning was named as left out. */
  readonly isNamed: boolean
  readonly left: Left
}

export interface Watched {
  readonly fetch: typeof fetch
  readonly calls: readonly WatchedCall[]
}

/** @param leftOf asked before each call, by its model */
export function watched(leftOf: (model: string) => Left): Watched {
  const calls: WatchedCall[] = []
  return {
    calls,
    async fetch(input, init) {
      const request = new Request(input, init)
      const { model } = (await request.clone().json()) as { readonly model: string }
      const left = leftOf(model)
      const response = await fetch(request)
      const dropped = response.headers.get('x-sluice-dropped')?.split(',') ?? []
      calls.push({ model, status: response.status, isNamed: dropped.includes('reasoning'), left })
      return response
    },
  }
}
