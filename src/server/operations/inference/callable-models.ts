import { fail, type Failure, type Outcome } from '../../../schemas/failures.ts'
import type { CompleteText } from '../../../schemas/inference/text-request.ts'
import type { KeyRecord } from '../../ports/keys/keys.ts'
import type { CallableModel } from '../../ports/models/models.ts'
import type { Ports } from '../../ports/ports.ts'
import { callableModel, type KnownModels } from '../callable-model.ts'

interface Asked {
  readonly key: KeyRecord
  readonly body: Pick<CompleteText, 'model' | 'models' | 'hasFallbacks'>
}

/**
 * The models of a call in the order to try them: `model`, then `models`. Every model has to be one
 * that the key may call: a call that could end at a forbidden model is refused before anything is sent.
 * Failures: those of `callableModel`; for one of `models`, and for `fallbacks` of the provider, the issue has
 * its path. D2, D11.
 */
export function callableModels(
  { key, body }: Asked,
  known: KnownModels,
  ports: Pick<Ports, 'models'>,
): Outcome<readonly [CallableModel, ...CallableModel[]]> {
  const first = callableModel({ name: body.model, makes: 'texts', key }, known, ports)
  if (!first.ok) return first
  const { allowedModels } = key
  // The provider chooses among models whose names are its own.
  if (body.hasFallbacks && allowedModels !== null) return FALLBACKS_REFUSED
  const others: CallableModel[] = []
  for (const [at, name] of body.models.entries()) {
    const found = callableModel({ name, makes: 'texts', key }, known, ports)
    if (!found.ok) return { ok: false, failure: atPath(`/models/${at}`, found.failure) }
    others.push(found.value)
  }
  return { ok: true, value: [first.value, ...others] }
}

const FALLBACKS_REFUSED = fail('model_not_allowed', {
  metadata: {
    issues: [{ path: '/fallbacks', message: 'could reach other models', expected: '`models`, or no value' }],
  },
})

function atPath(path: string, failure: Failure): Failure {
  const issue = { path, message: 'is not a model for this call', expected: 'a model your key may call' }
  return { ...failure, metadata: { ...failure.metadata, issues: [issue] } }
}
