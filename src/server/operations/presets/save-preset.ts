import type { BodyName } from '../../../schemas/bodies.ts'
import { ok, type FailureName, type Outcome } from '../../../schemas/failures.ts'
import { unknownFields } from '../../../schemas/presets/preset-input.ts'
import { PRESET_BYTES_MAX } from '../../../schemas/presets/preset-limits.ts'
import { PresetAnswer, PresetParams, PresetQuery } from '../../../schemas/presets/presets.ts'
import { readableBytes } from '../../../schemas/values/readable.ts'
import type { Ports } from '../../ports/ports.ts'
import type { PresetInput } from '../../ports/presets/presets.ts'
import { defineOperation, type AnyOperation, type Call, type Success } from '../define.ts'
import {
  EXAMPLE_PRESET,
  PRESET_FAILURES,
  presetActorOf,
  presetAnswer,
  presetRefOf,
} from './preset-answers.ts'
import { sessionIdOf } from '../../../schemas/inference/conversation.ts'

const FAILURES = [
  'header_invalid',
  'body_invalid',
  'previous_response_unsupported',
  'preset_too_large',
  'presets_full',
  'preset_conflict',
  ...PRESET_FAILURES,
] as const satisfies readonly FailureName[]

interface SavingInputs {
  readonly params: typeof PresetParams
  readonly query: typeof PresetQuery
  readonly headers: readonly ['x-session-id']
  readonly body: BodyName
}

interface Saving extends Pick<AnyOperation, 'id' | 'summary' | 'description'> {
  /** The part of the path after the preset. */
  readonly form: string
  readonly body: BodyName
  readonly example: object
}

/** An operation that saves a preset from a request in one of the formats of calls. */
function saving({ form, body, example, ...texts }: Saving): AnyOperation {
  return defineOperation<SavingInputs, PresetInput>({
    ...texts,
    method: 'post',
    path: `/presets/{slug}${form}`,
    tag: 'presets',
    idempotent: true,
    input: { params: PresetParams, query: PresetQuery, headers: ['x-session-id'], body },
    success: {
      status: 200,
      body: PresetAnswer,
      headers: {
        'x-sluice-ignored': 'Fields of the request that are unknown in its format, comma-separated.',
      },
    },
    statuses: [400, 403, 404, 409, 500],
    failures: FAILURES,
    example: { params: EXAMPLE_PRESET, body: example },
    run: savePreset,
  })
}

/**
 * The operations that save a preset, in the order of the reference page. Source: §4.2, §2.4, §7, B1.2, B2.2,
 * decisions C16, C19, C20.
 */
export const SAVING: readonly AnyOperation[] = [
  saving({
    id: 'presets.create_from_responses',
    form: '/responses',
    summary: 'Save a preset from a responses request',
    description:
      'Creates the preset with this slug, or its next version, and designates it. ' +
      'Saves the fields that later calls can use, `instructions` as the system prompt; `input` and fields for a single request are validated, but not saved. ' +
      `At most ${readableBytes(PRESET_BYTES_MAX)} of JSON can be saved.`,
    body: 'preset_responses',
    example: {
      model: 'acme/text',
      instructions: 'Answer in one sentence.',
      input: 'Hello',
      temperature: 0.2,
    },
  }),
  saving({
    id: 'presets.create_from_chat',
    form: '/chat/completions',
    summary: 'Save a preset from a chat request',
    description:
      'Works like saving a responses request. Messages with role `system` and `developer` become the system prompt, ' +
      'joined by blank lines; other messages are ignored.',
    body: 'preset_chat',
    example: {
      model: 'acme/text',
      messages: [
        { role: 'system', content: 'Answer in one sentence.' },
        { role: 'user', content: 'Hello' },
      ],
      max_tokens: 200,
    },
  }),
  saving({
    id: 'presets.create_from_messages',
    form: '/messages',
    summary: 'Save a preset from a messages request',
    description:
      'Works like saving a responses request. `system` becomes the system prompt, its blocks joined by blank lines; `messages` are ignored.',
    body: 'preset_messages',
    example: {
      model: 'acme/text',
      system: 'Answer in one sentence.',
      messages: [{ role: 'user', content: 'Hello' }],
      max_tokens: 200,
    },
  }),
]

type SavingCall = Call<{ readonly slug: string }, { readonly workspace_id?: string }, PresetInput>

/** Every kind of body has already been converted to the stored form. */
async function savePreset(
  call: SavingCall,
  ports: Pick<Ports, 'presets' | 'workspaces'>,
): Promise<Outcome<Success>> {
  // A session id in the body takes precedence; it was checked with the body. §4.2.
  const session = sessionIdOf(
    null,
    call.body.ignored.includes('session_id') ? undefined : call.headers['x-session-id'],
  )
  if (!session.ok) return session
  const ref = await presetRefOf(call, ports)
  if (!ref.ok) return ref
  const saved = await ports.presets.put(ref.value, call.body, presetActorOf(call))
  return saved.ok ? ok(presetAnswer(saved.value, ignoredRemark(call.body))) : saved
}

/** Other unknown members are not reported as mistakes: a format of calls may have members that Sluice does not know. C25. */
function ignoredRemark({ ignored }: PresetInput): Readonly<Record<string, string>> {
  const names = unknownFields(ignored).map((name) => name.replace(/[^\w.$-]/g, '_'))
  return names.length === 0 ? {} : { 'x-sluice-ignored': names.join(',') }
}
