/** Calls of the operations of budgets, and what they answer. */
import type { Answered, InternsFront } from '../workspaces/interns-front.ts'

export function put(
  { call }: Pick<InternsFront, 'call'>,
  interval: string,
  limitUsd: number,
  more: object = {},
  workspace = 'default',
): Promise<Answered> {
  return call('PUT', `/workspaces/${workspace}/budgets/${interval}`, {
    body: { limit_usd: limitUsd, ...more },
  })
}

export function dataOf({ body }: Answered): Readonly<Record<string, unknown>> {
  return body['data'] as Readonly<Record<string, unknown>>
}
