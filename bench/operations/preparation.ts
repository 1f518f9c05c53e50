/** The things that an operation needs for a real answer, and the requests made of them. */
import type { LoadRequest } from '../../test/support/load/load-plan.ts'
import { examplePath, type ExampleInput } from '../../src/server/http/reference/samples/example-request.ts'
import type { AnyOperation } from '../../src/server/operations/define.ts'
import { FORM } from '../../test/prove/keys/isolation/owners.ts'
import type { World } from './world.ts'

export interface Preparation {
  /** Number of things to prepare, since each request works once; null: the same requests are repeated. */
  readonly fresh: number | null
  /** Status of the answer where that is no success: some operations always refuse. */
  readonly status?: number
  /** Answers after which the cell ends. */
  readonly most?: number
  make(world: World, nth: number): Promise<readonly ExampleInput[]> | readonly ExampleInput[]
}

/** Repeats the same requests in turn. */
export function again(
  make: (world: World) => Promise<readonly ExampleInput[]> | readonly ExampleInput[],
  more: Pick<Preparation, 'status' | 'most'> = {},
): Preparation {
  return { fresh: null, make, ...more }
}

/** Prepares one thing for each request. */
export function fresh(
  count: number,
  make: (world: World, nth: number) => Promise<ExampleInput> | ExampleInput,
): Preparation {
  return { fresh: count, make: async (world, nth) => [await make(world, nth)] }
}

/** Concurrent preparations. */
const MAKERS = 4

export async function requestsOf(
  operation: AnyOperation,
  preparation: Preparation,
  world: World,
): Promise<readonly LoadRequest[]> {
  const count = preparation.fresh ?? 1
  const inputs: (readonly ExampleInput[])[] = []
  const next = Array.from({ length: count }, (_, nth) => nth)[Symbol.iterator]()
  await Promise.all(
    Array.from({ length: MAKERS }, async () => {
      for (const nth of next) inputs[nth] = await preparation.make(world, nth)
    }),
  )
  return inputs.flat().map((request) => requestOf(operation, request, world))
}

function requestOf(operation: AnyOperation, request: ExampleInput, world: World): LoadRequest {
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
    path: examplePath(operation, request),
    headers: {
      ...(access.header === undefined ? { authorization: `Bearer ${key}` } : { [access.header]: key }),
      ...form.headers,
    },
    body: form.body,
  }
}
