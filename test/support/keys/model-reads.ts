import { Value } from 'typebox/value'
import { statusOf, type Failure } from '../../../src/schemas/failures.ts'
import type { AnyOperation } from '../../../src/server/operations/define.ts'
import type { ModelCatalogue } from '../../../src/server/ports/models/models.ts'
import type { Ports } from '../../../src/server/ports/ports.ts'
import { NO_FILES } from '../files/no-files.ts'
import { textOf } from '../parts.ts'

export interface ModelAnswer {
  readonly status: number
  readonly failure: Failure | null
  readonly body: unknown
}

/**
 * Runs a model read over a real catalogue. Throws when the body is not what the operation declares, or when a
 * failure is returned that it does not list.
 */
export async function read(
  operation: AnyOperation,
  models: ModelCatalogue,
  input: {
    readonly params?: object
    readonly query?: object
    readonly allowedModels?: readonly string[]
  } = {},
): Promise<ModelAnswer> {
  const { allowedModels = null, ...inputs } = input
  // A read sees its inputs, its key's workspace and list of models, and nothing else of the call.
  const outcome = await operation.run(
    { query: {}, ...inputs, key: { allowedModels, workspaceId: null } } as never,
    portsOf(models),
  )
  if (!outcome.ok) {
    if (!operation.failures.includes(outcome.failure.name))
      throw new Error(`${outcome.failure.name} is not declared`)
    return {
      status: statusOf(outcome.failure.name, operation.statuses),
      failure: outcome.failure,
      body: null,
    }
  }
  const success = outcome.value
  if (!('value' in success || 'parts' in success) || operation.success.body === null)
    throw new Error('not a JSON answer')
  const body: unknown = success.kind === 'json' ? success.value : JSON.parse(textOf(success.parts))
  if (!Value.Check(operation.success.body, body)) throw new Error(`not as declared: ${JSON.stringify(body)}`)
  return { status: operation.success.status, failure: null, body }
}

/** Ids of a model list's page. */
export function idsOf(answer: ModelAnswer): readonly string[] {
  return (answer.body as { data: { id: string }[] }).data.map((model) => model.id)
}

export function portsOf(models: ModelCatalogue): Ports {
  const unused = (): never => {
    throw new Error('a model read needs the catalogue alone')
  }
  const log = { debug: unused, info: unused, warn: unused, error: unused }
  return {
    models,
    embedder: { answer: unused },
    observer: { log, settled: unused, trace: unused },
    ...NO_FILES,
  }
}

/** Four models: two that write text, two that embed; made in this order. */
export const FOUR_MODELS = {
  providers: [
    { slug: 'near', name: 'Near', protocol: 'openai', base_url: 'https://near.example/v1' },
    { slug: 'here', protocol: 'local' },
  ],
  models: [
    {
      id: 'acme/chat',
      name: 'Chat',
      created: '2024-01-01',
      context_length: 1_000,
      supported_parameters: ['tools', 'seed'],
      architecture: { input_modalities: ['text', 'image'], tokenizer: 'GPT' },
      categories: ['code'],
      endpoints: [
        {
          provider: 'near',
          upstream_model: 'chat',
          pricing: { prompt: '0.000002', completion: '0.000008' },
          zdr: true,
        },
      ],
    },
    {
      id: 'acme/embed',
      name: 'Embed',
      description: 'Puts text into a space',
      aliases: ['acme/e', 'embed'],
      variants: ['floor'],
      created: '2024-06-01',
      context_length: 8_192,
      architecture: { output_modalities: ['embeddings'] },
      endpoints: [{ provider: 'near', upstream_model: 'embed', pricing: { prompt: '0.00000002' } }],
    },
    { id: 'other/chat', name: 'Other chat', endpoints: [{ provider: 'here', upstream_model: 'chat' }] },
    {
      id: 'other/embed',
      name: 'Other embed',
      architecture: { output_modalities: ['embeddings'] },
      endpoints: [{ provider: 'here', upstream_model: 'embed' }],
    },
  ],
}
