/** What an operation needs for a real answer, and the requests that are made of it. */
import type { LoadRequest } from '../../test/support/load/load-plan.ts'
import { prefixOf, type AnyOperation } from '../../src/server/operations/define.ts'
import { FORM } from '../../test/prove/keys/isolation/owners.ts'
import type { World } from './world.ts'

/** What differs from the operation's own example. */
export interface Input {
  readonly params?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly method?: string
}

export interface Preparation {
  /**
   * Each request is good once, and so many things are made ahead; null: the same requests again and again.
   */
  readonly fresh: number | null
  /** Of its answer, where that is no success: some operations always refuse. */
  readonly status?: number
  /** The cell ends with so many answers. */
  readonly most?: number
  make(world: World, nth: number): Promise<readonly Input[]> | readonly Input[]
}

/** The same wishes in turn. */
export function again(
  make: (world: World) => Promise<readonly Input[]> | readonly Input[],
  more: Pick<Preparation, 'status' | 'most'> = {},
): Preparation {
  return { fresh: null, make, ...more }
}

/** One thing for each request. */
export function fresh(
  count: number,
  make: (world: World, nth: number) => Promise<Input> | Input,
): Preparation {
  return { fresh: count, make: async (world, nth) => [await make(world, nth)] }
}

/** At once while things are made ahead. */
const MAKERS = 4

export async function requestsOf(
  operation: AnyOperation,
  preparation: Preparation,
  world: World,
): Promise<readonly LoadRequest[]> {
  const count = preparation.fresh ?? 1
  const inputs: (readonly Input[])[] = []
  const next = Array.from({ length: count }, (_, nth) => nth)[Symbol.iterator]()
  await Promise.all(
    Array.from({ length: MAKERS }, async () => {
      for (const nth of next) inputs[nth] = await preparation.make(world, nth)
    }),
  )
  return inputs.flat().map((request) => requestOf(operation, request, world))
}

function requestOf(operation: AnyOperation, request: Input, world: World): LoadRequest {
  const { input, access, example } = operation
  const [kind = 'inference'] = access.keys
  const key = world.keyOf(kind)
  const body = request.body ?? example.body
  const sent = typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body)
  const form =
    input.upload === 'form'
      ? FORM
      : { headers: sent === '' ? {} : { 'content-type': 'application/json' }, body: sent }
  return {
    method: request.method ?? (operation.method === 'any' ? 'GET' : operation.method.toUpperCase()),
    path: `${prefixOf(operation)}${pathOf(operation, { ...(example.params ?? {}), ...request.params })}${queryOf(operation)}`,
    headers: {
      ...(access.header === undefined ? { authorization: `Bearer ${key}` } : { [access.header]: key }),
      ...form.headers,
    },
    body: form.body,
  }
}

/** The last segment of some paths takes slashes. */
function pathOf({ path, input, isAtRoot }: AnyOperation, params: Readonly<Record<string, string>>): string {
  const hasRest = input.hasRest === true || isAtRoot === true
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name] ?? ''
    return hasRest
      ? value.split('/').map(encodeURIComponent).join('/').replaceAll('%3A', ':')
      : encodeURIComponent(value)
  })
}

function queryOf({ example }: AnyOperation): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(example.query ?? {})) query.append(name, String(value))
  return query.size === 0 ? '' : `?${query}`
}
