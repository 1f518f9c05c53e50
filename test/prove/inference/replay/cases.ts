/** The calls of a recording, by the seed: each cell of the table is met, good answers several times. */
import type { FakeAnswer } from '../../../support/inference/fake-provider.ts'
import { DIALECT_PATHS } from '../../../support/inference/forms-facts.ts'
import { DIALECTS } from '../../../../src/schemas/inference/text-request.ts'
import type { Proof } from '../../proof.ts'
import { faultsOf, makeOf, NONE, timesOf } from './faults.ts'
import { EMBEDDING_FORMS, TEXT_FORMS, type ProviderForm } from './forms.ts'
import { embeddingRequest, textRequest } from './requests.ts'

export interface ReplayEndpoint {
  /** Of its provider, which has no other endpoint: no call learns from another. */
  readonly slug: string
  readonly form: ProviderForm
  /** Members of the provider in the catalogue. */
  readonly more: Readonly<Record<string, unknown>>
  readonly fault: string
  readonly answer: FakeAnswer
}

export interface ReplayCall {
  readonly nth: number
  /** One line: what is called, and what goes wrong. */
  readonly text: string
  readonly model: string
  /** Below `/api/v1`. */
  readonly path: string
  /** With a character for each byte. */
  readonly body: string
  /** In the order in which they are tried; the second follows where the first fails. */
  readonly endpoints: readonly ReplayEndpoint[]
}

type Random = Proof['random']
type Caller = keyof typeof PATHS

const PATHS = { ...DIALECT_PATHS, embeddings: '/embeddings' }

/** Who calls, how, at a provider of which form, and what goes wrong. */
interface Cell {
  readonly caller: Caller
  readonly isStream: boolean
  readonly form: ProviderForm
  readonly fault: string
}

const CELLS: readonly Cell[] = [
  ...DIALECTS.flatMap((caller) =>
    [false, true].flatMap((isStream) => TEXT_FORMS.flatMap((form) => cellsOf(caller, isStream, form))),
  ),
  ...EMBEDDING_FORMS.flatMap((form) => cellsOf('embeddings', false, form)),
]

function cellsOf(caller: Caller, isStream: boolean, form: ProviderForm): readonly Cell[] {
  const faults = faultsOf(isStream).flatMap((fault) => Array.from({ length: timesOf(fault) }, () => fault))
  return faults.map((fault) => ({ caller, isStream, form, fault }))
}

export function callsOf(random: Random, count: number): readonly ReplayCall[] {
  let left: Cell[] = []
  return Array.from({ length: count }, (_, nth) => {
    if (left.length === 0) left = [...CELLS]
    const [cell] = left.splice(random(left.length), 1)
    if (cell === undefined) throw new Error('the table has no cells')
    return callOf(random, nth, cell)
  })
}

function callOf(random: Random, nth: number, { caller, isStream, form, fault }: Cell): ReplayCall {
  const forms = caller === 'embeddings' ? EMBEDDING_FORMS : TEXT_FORMS
  const second = { form: chosen(random, [form, chosen(random, forms)]), fault: secondFault(random, isStream) }
  const planned = random(4) === 0 ? [{ form, fault }] : [{ form, fault }, second]
  const endpoints = planned.map((one, at) => endpointOf(random, `c${nth}-${at}`, one))
  const asked = { model: `acme/c${nth}`, isStream, providers: endpoints.map(({ slug }) => slug) }
  return {
    nth,
    text: `${caller}${isStream ? ', streamed' : ''}, ${endpoints.map(reportedOf).join(', then ')}`,
    model: asked.model,
    path: PATHS[caller],
    body:
      caller === 'embeddings'
        ? embeddingRequest(random, asked)
        : textRequest(random, caller, { ...asked, forms: planned.flatMap((one) => one.form.speaks ?? []) }),
    endpoints,
  }
}

/** Mostly the second one answers well. */
function secondFault(random: Random, isStream: boolean): string {
  return random(3) === 0 ? chosen(random, faultsOf(isStream)) : NONE
}

function endpointOf(
  random: Random,
  slug: string,
  { form, fault }: Pick<ReplayEndpoint, 'form' | 'fault'>,
): ReplayEndpoint {
  const events = form.streams.length === 0 ? [] : chosen(random, form.streams)
  const reported = { form, events, whole: chosen(random, form.wholes), at: random(1_000) / 1_000 }
  const more = form.protocol === 'openai' && random(6) === 0 ? { strict: true } : {}
  return { slug, form, more, fault, answer: makeOf(fault)(reported) }
}

function reportedOf({ form, fault }: ReplayEndpoint): string {
  return `${form.name}: ${fault}`
}

function chosen<T>(random: Random, from: readonly T[]): T {
  const one = from[random(from.length)]
  if (one === undefined) throw new Error('there is nothing to choose from')
  return one
}
