import { type ComponentChild, type ComponentChildren, h } from 'preact'
import { useState } from 'preact/hooks'
import type { ApiKey, CreateKeyBody, LimitReset, UpdateKeyBody } from '../../../../schemas/keys/keys.ts'
import type { KeyScope } from '../../../../schemas/keys/permissions.ts'
import type { PageContext } from '../page.ts'
import { CopyBox } from '../parts/copy-box.tsx'
import { Dialog, useAction } from '../parts/dialog.tsx'
import { CheckField, errorAbout, Form, SelectField, TextField } from '../parts/fields.tsx'
import { Time } from '../parts/figures.tsx'
import type { Workspaces } from '../parts/workspaces.ts'
import {
  CALL_NAMES,
  NumberField,
  numbersBody,
  numbersOf,
  type NumberFieldProps,
  type Numbers,
} from './key-numbers.tsx'

interface NewKey {
  readonly data: ApiKey
  readonly key: string
}
interface RotatedKey extends NewKey {
  readonly previous: { readonly expires_at: string }
}

const KINDS = [
  ['inference', 'Inference: call models'],
  ['management', 'Management: manage the organization'],
] as const
const RESETS: readonly (readonly [LimitReset | '', string])[] = [
  ['', 'Never (lifetime limit)'],
  ['daily', 'Daily'],
  ['weekly', 'Weekly'],
  ['monthly', 'Monthly'],
]
const OVERLAPS = [
  ['0', 'None: the old key stops working immediately'],
  ['300', '5 minutes'],
  ['3600', '1 hour'],
  ['86400', '1 day'],
] as const

/** The values of the fields, as text. */
interface Input extends Numbers {
  readonly name: string
  readonly kind: 'inference' | 'management'
  readonly workspace: string
  readonly reset: string
  readonly expires: string
  readonly scopes: readonly KeyScope[] | null
}

export interface KeyDialogProps {
  readonly context: PageContext
  readonly workspaces: Workspaces
  /** Null: a new one. */
  readonly changed: ApiKey | null
  onDone(): void
  onClose(): void
}

/** Creates a key and shows it once, or changes one. */
export function KeyDialog({
  context: { api, say },
  workspaces,
  changed,
  onDone,
  onClose,
}: KeyDialogProps): ComponentChild {
  const [input, setInput] = useState<Input>(() => inputOf(changed, workspaces))
  const [made, setMade] = useState<NewKey | null>(null)
  const { isBusy, problem, start } = useAction(async () => {
    if (changed === null) return setMade(await api.send<NewKey>('POST', ['keys'], createBody(input)))
    await api.send('PATCH', ['keys', changed.hash], {
      ...limitsBody(input),
      ...scopesBody(input, changed.kind),
    })
    say(`${input.name} saved.`)
    onClose()
  }, onDone)
  if (made !== null) return <MadeDialog title="New key" made={made} onClose={onClose} />
  const set =
    (name: Exclude<keyof Input, 'scopes'>) =>
    (value: string): void =>
      setInput((last) => ({ ...last, [name]: value }))
  const isNew = changed === null
  return (
    <Dialog title={isNew ? 'Create key' : `Edit ${changed.name}`} onClose={onClose}>
      <Form
        action={isNew ? 'Create' : 'Save'}
        isBusy={isBusy}
        problem={problem}
        onSubmit={start}
        onCancel={onClose}
      >
        <TextField
          label="Name"
          value={input.name}
          onInput={set('name')}
          isRequired
          hasFocus
          error={errorAbout(problem, 'name')}
        />
        {isNew && <SelectField label="Kind" value={input.kind} options={KINDS} onInput={set('kind')} />}
        {isNew && input.kind === 'inference' && (
          <SelectField
            label="Workspace"
            value={input.workspace}
            options={workspaces.options()}
            onInput={set('workspace')}
          />
        )}
        <LimitFields input={input} set={set} problem={problem} />
        <RateFields input={input} set={set} problem={problem} isNew={isNew} />
        {(changed?.kind ?? input.kind) !== 'management' && [
          <div class="pair" key="calls">
            {CALL_NAMES.map((name) => (
              <NumberField key={name} name={name} input={input} set={set} problem={problem} />
            ))}
          </div>,
          <ScopeFields
            key="scopes"
            scopes={input.scopes}
            onChange={(scopes) => setInput((last) => ({ ...last, scopes }))}
          />,
        ]}
      </Form>
    </Dialog>
  )
}

interface LimitFieldsProps extends NumberFieldProps {
  readonly input: Input
  set(name: Exclude<keyof Input, 'scopes'>): (value: string) => void
}

function LimitFields(props: LimitFieldsProps): ComponentChild {
  const { input, set } = props
  return (
    <div class="pair">
      <NumberField {...props} name="limit" />
      <SelectField
        label="Resets"
        value={input.reset}
        options={RESETS}
        onInput={set('reset')}
        isDisabled={input.limit === ''}
      />
    </div>
  )
}

/** The rate limit with its burst, and the expiry of a new key. */
function RateFields({ isNew, ...props }: LimitFieldsProps & { readonly isNew: boolean }): ComponentChild {
  const { input, set, problem } = props
  return (
    <div class="pair">
      <NumberField {...props} name="rate_limit_rpm" />
      <NumberField {...props} name="rate_limit_burst" isDisabled={input.rate_limit_rpm === ''} />
      {isNew && (
        <TextField
          label="Expires"
          type="datetime-local"
          value={input.expires}
          onInput={set('expires')}
          hint="Local time. Optional."
          error={errorAbout(problem, 'expires_at')}
        />
      )}
    </div>
  )
}

export interface RotateDialogProps extends Pick<KeyDialogProps, 'context' | 'onDone' | 'onClose'> {
  readonly apiKey: ApiKey
}

/** Gives a key a new secret; the old one stays valid for a while. */
export function RotateDialog({
  context: { api },
  apiKey,
  onDone,
  onClose,
}: RotateDialogProps): ComponentChild {
  const [overlap, setOverlap] = useState('3600')
  const [made, setMade] = useState<RotatedKey | null>(null)
  const { isBusy, problem, start } = useAction(
    async () =>
      setMade(
        await api.send<RotatedKey>('POST', ['keys', apiKey.hash, 'rotate'], {
          overlap_seconds: Number(overlap),
        }),
      ),
    onDone,
  )
  const ends = ['The old key stops working ', <Time key="at" at={made?.previous.expires_at} />, '.']
  if (made !== null)
    return <MadeDialog title={`New key for ${apiKey.name}`} made={made} note={ends} onClose={onClose} />
  return (
    <Dialog title={`Rotate ${apiKey.name}`} onClose={onClose}>
      <Form action="Create new key" isBusy={isBusy} problem={problem} onSubmit={start} onCancel={onClose}>
        <p>The new key keeps the name, limits, scopes and spend.</p>
        <SelectField
          label="Overlap"
          hint="The old and the new key both work during the overlap."
          value={overlap}
          options={OVERLAPS}
          onInput={setOverlap}
          error={errorAbout(problem, 'overlap_seconds')}
        />
      </Form>
    </Dialog>
  )
}

interface MadeDialogProps {
  readonly title: string
  readonly made: NewKey
  readonly note?: ComponentChildren
  onClose(): void
}

function MadeDialog({ title, made, note, onClose }: MadeDialogProps): ComponentChild {
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="body">
        <p>
          <strong>Copy the key now: it is not shown again.</strong> {note}
        </p>
        <CopyBox label={`API key ${made.data.name}`} text={made.key} hasFocus />
      </div>
      <footer>
        <button type="button" onClick={onClose}>
          Done
        </button>
      </footer>
    </Dialog>
  )
}

function inputOf(key: ApiKey | null, { loaded }: Workspaces): Input {
  const all = loaded.value ?? []
  return {
    ...numbersOf(key),
    name: key?.name ?? '',
    kind: 'inference',
    workspace: (all.find((one) => one.is_default) ?? all[0])?.id ?? '',
    reset: key?.limit_reset ?? '',
    expires: '',
    scopes: key?.scopes ?? null,
  }
}

function limitsBody(input: Input): UpdateKeyBody & Pick<CreateKeyBody, 'name'> {
  const numbers = numbersBody(input)
  const reset = RESETS.find(([value]) => value === input.reset)?.[0] ?? ''
  return {
    ...numbers,
    name: input.name.trim(),
    limit_reset: numbers.limit === null || reset === '' ? null : reset,
    rate_limit_burst: numbers.rate_limit_rpm === null ? null : numbers.rate_limit_burst,
  }
}

/** The scopes in the body: a management key has none. */
function scopesBody({ scopes }: Input, kind: ApiKey['kind']): Pick<UpdateKeyBody, 'scopes'> {
  return kind === 'management' ? {} : { scopes: scopes === null ? null : [...scopes] }
}

function createBody(input: Input): CreateKeyBody {
  const { kind, workspace, expires } = input
  return {
    ...limitsBody(input),
    ...scopesBody(input, kind),
    kind,
    expires_at: expires === '' ? null : new Date(expires).toISOString(),
    ...(kind === 'inference' && workspace !== '' && { workspace_id: workspace }),
  }
}

const SCOPES: readonly (readonly [KeyScope, string])[] = [
  ['inference', 'call models'],
  ['files:read', 'read files'],
  ['files:write', 'upload and delete files'],
  ['vault:use', 'egress and private endpoints'],
  ['vault:write', 'write secrets'],
  ['videos', 'make videos'],
  ['presets:write', 'no effect: only management keys write presets'],
]

interface ScopeFieldsProps {
  /** Null: all. */
  readonly scopes: readonly KeyScope[] | null
  onChange(scopes: readonly KeyScope[] | null): void
}

/** The scopes of an inference key: all, or the checked ones. */
function ScopeFields({ scopes, onChange }: ScopeFieldsProps): ComponentChild {
  const turn =
    (scope: KeyScope) =>
    (isOn: boolean): void =>
      onChange(
        SCOPES.flatMap(([one]) => ((one === scope ? isOn : scopes?.includes(one) === true) ? [one] : [])),
      )
  return (
    <fieldset>
      <legend>Scopes</legend>
      <CheckField label="All" isOn={scopes === null} onChange={(isOn) => onChange(isOn ? null : [])} />
      {scopes !== null &&
        SCOPES.map(([scope, meaning]) => (
          <CheckField
            key={scope}
            label={`${scope}: ${meaning}`}
            isOn={scopes.includes(scope)}
            onChange={turn(scope)}
          />
        ))}
    </fieldset>
  )
}
