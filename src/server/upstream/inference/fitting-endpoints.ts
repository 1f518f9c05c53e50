import { fail, ok, type Failure, type Outcome } from '../../../schemas/failures.ts'
import { isTextType } from '../../../schemas/inference/counted-media.ts'
import { inlineFormOf } from '../../../schemas/inference/inline-files.ts'
import type { PlacedModality } from '../../../schemas/inference/text-request.ts'
import { pointerOf } from '../../../schemas/values/json-path.ts'
import type { CountJob, InlineFile } from '../../ports/inference/inference.ts'
import type { CallableModel, Endpoint } from '../../ports/models/models.ts'
import { isPrivate } from '../routing/is-private.ts'
import { isReached, keeps, mayReadOther, spokenBy } from './spoken.ts'

type Asked = Pick<CountJob, 'request' | 'files'>

/**
 * The endpoints of a model that can serve a call at all: they are reached in its form, may keep what it needs
 * kept, cannot read another request out of it, read its media and write the outputs that it asks for. Failures:
 * model_unfit, stateless, body_invalid, input_unsupported, not_supported.
 */
export function fittingEndpoints(model: CallableModel, asked: Asked): Outcome<readonly Endpoint[]> {
  const { request } = asked
  const speaking = model.endpoints.filter((endpoint) => isReached(endpoint, request.dialect))
  if (speaking.length === 0) return fail('model_unfit', { detail: spokenBy(model, request.dialect) })
  const path = request.statePath ?? request.accountPath
  const keeping = path === undefined ? speaking : speaking.filter((one) => keeps(one, request))
  if (path !== undefined && keeping.length === 0) return stateless(path)
  const { ambiguous } = request.source
  const reading = ambiguous === null ? keeping : keeping.filter((one) => !mayReadOther(one, request))
  if (ambiguous !== null && reading.length === 0)
    return fail('body_invalid', { metadata: { issues: [ambiguous] } })
  const refused = foreignTo(model, asked)
  if (refused === null) return ok(reading)
  // The catalogue says nothing of a workspace's own server that has the model's name.
  const own = reading.filter(isPrivate)
  return own.length === 0 ? refused : ok(own)
}

function stateless(path: string): Outcome<never> {
  const issue = {
    path,
    message: 'needs an account with the provider',
    expected: 'the whole conversation in the request',
  }
  return fail('stateless', { metadata: { issues: [issue] } })
}

/** Null: as far as the catalogue says, the model reads the prompt and writes what is asked for. D6, D9. */
function foreignTo({ declared }: CallableModel, { request, files = [] }: Asked): Outcome<never> | null {
  if (declared === undefined) return null
  const { inputs, outputs } = declared
  const { placed = [] } = request.size
  const input = firstBeyond(inputs, placed) ?? firstBeyond(inputs, files.flatMap(placedFile))
  if (input !== undefined) return fail('input_unsupported', issueOf('input', input, inputs))
  const output = firstBeyond(outputs, request.outputs ?? [])
  return output === undefined ? null : fail('not_supported', issueOf('output', output, outputs))
}

/** @param known undefined: the catalogue does not say */
function firstBeyond(
  known: readonly string[] | undefined,
  used: readonly PlacedModality[],
): PlacedModality | undefined {
  return known === undefined ? undefined : used.find(({ name }) => !known.includes(name))
}

function issueOf(
  direction: 'input' | 'output',
  { name, path }: PlacedModality,
  known: readonly string[] = [],
): Pick<Failure, 'metadata'> {
  const message = `is ${name}, which the model does not support as ${direction}`
  return { metadata: { issues: [{ path, message, expected: known.join(' or ') }] } }
}

/** A text of a file is a text, whatever names it. */
function placedFile({ use, mimeType, at }: InlineFile): readonly PlacedModality[] {
  const name = isTextType(mimeType) ? null : inlineFormOf(use, mimeType)
  return name === null || name === 'text' ? [] : [{ name, path: pointerOf(at) }]
}
