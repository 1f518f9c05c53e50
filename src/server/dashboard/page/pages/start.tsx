import { type ComponentChild, type ComponentChildren, h } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { StartAnswer, StartProvider } from '../../../../schemas/operator/start.ts'
import type { ApiKey } from '../../../../schemas/keys/keys.ts'
import type { LiveView, OperationView } from '../../../../schemas/operator/live-view.ts'
import { useLive } from '../live.ts'
import { hashOf, type Page, type PageContext } from '../page.ts'
import { Badge } from '../parts/badge.tsx'
import { CopyBox } from '../parts/copy-box.tsx'
import { useAction } from '../parts/dialog.tsx'
import { errorAbout, Form, SelectField, TextField } from '../parts/fields.tsx'
import { useKeyNames, type KeyNames } from '../parts/key-names.ts'
import { Awaited, type Loaded, useLoaded } from '../parts/loaded.tsx'
import { useRefresh } from '../parts/refresh.ts'
import { LANGUAGES, sampleOf, type Language } from './start-samples.ts'
import { REPEATABLE } from './calls/request-steps.ts'

export const startPage: Page = {
  path: 'start',
  title: 'Start',
  letter: 't',
  view: (context) => <Start {...context} />,
}

type Facts = StartAnswer['data']

/** Three steps to the first call, each marked as done wherever it was done. */
function Start(context: PageContext): ComponentChild {
  const { api, live, query, say } = context
  const [made, setMade] = useState<MadeKey | null>(null)
  const loaded = useLoaded((signal) => api.get<StartAnswer>(['admin', 'start'], {}, signal), [api])
  const facts = loaded.value?.data
  const keys = useKeyNames(context)
  const { looks } = useLive(live)
  const call = firstCallOf(looks, facts?.has_called ?? false)
  useRefresh(call.kind !== 'seen', loaded)
  const wasSeen = useRef(true)
  useEffect(() => {
    if (call.kind === 'seen' && !wasSeen.current) say('First call seen.')
    wasSeen.current = call.kind === 'seen'
  }, [call.kind])
  if (facts === undefined) return <Awaited {...loaded} />
  const provider = facts.providers.find(({ slug }) => slug === query.get('provider'))
  return (
    <div>
      <ol class="begin">
        <ChooseProvider context={context} facts={facts} provider={provider} />
        <MakeKey context={context} made={made} keys={keys} onMade={setMade} />
        <PasteCall
          context={context}
          facts={facts}
          provider={provider}
          made={made}
          known={callingKeys(keys.keys)[0]?.name ?? null}
          call={call}
        />
      </ol>
    </div>
  )
}

interface StepProps {
  readonly title: string
  readonly isDone: boolean
  /** Result of the step in one or two words, shown when it is done. */
  readonly done: string
  readonly children?: ComponentChildren
}

function Step({ title, isDone, done, children }: StepProps): ComponentChild {
  return (
    <li class={isDone ? 'panel done' : 'panel'}>
      <div class="head">
        <h2>{title}</h2>
        <Badge text={isDone ? done : 'to do'} tone={isDone ? 'good' : 'plain'} />
      </div>
      {children}
    </li>
  )
}

interface ProviderProps {
  readonly context: PageContext
  readonly facts: Facts
  /** Undefined: none is chosen. */
  readonly provider: StartProvider | undefined
}

function ChooseProvider({ context, facts, provider }: ProviderProps): ComponentChild {
  const ownKeys = useOwnKeys(context, provider)
  const own = ownKeys.value ?? []
  const hasOwnKey = own.some((key) => key.provider === provider?.slug)
  const slugs = new Set([...readyProviders(facts).map(({ slug }) => slug), ...own.map((key) => key.provider)])
  const ready = facts.providers.filter(({ slug }) => slugs.has(slug))
  const isDone = provider === undefined ? ready.length > 0 : provider.is_set || hasOwnKey
  const options = facts.providers.map((one) => [one.slug, optionOf(one)] as const)
  return (
    <Step title="1. Choose a provider" isDone={isDone} done="ready">
      <SelectField
        label="Provider"
        value={provider?.slug ?? ''}
        options={[['', 'Choose a provider'], ...options]}
        onInput={(slug) => context.setQuery({ provider: slug })}
      />
      {provider === undefined && ready.length > 0 && (
        <p>{`Ready: ${ready.map(({ name }) => name).join(', ')}.`}</p>
      )}
      {provider !== undefined && hasOwnKey && <p>{`A workspace has its own ${provider.name} key.`}</p>}
      {provider?.is_set === false && !hasOwnKey && (
        <KeyWanted key={provider.slug} context={context} provider={provider} onStored={ownKeys.reload} />
      )}
    </Step>
  )
}

function optionOf({ slug, name, variables, is_set: isSet }: StartProvider): string {
  if (slug === BUILT_IN) return `${name}: built-in models, free, no key`
  if (variables.length === 0) return `${name}: no key needed`
  return isSet ? `${name}: key set` : name
}

/** Slug of the provider with the built-in models. */
const BUILT_IN = 'local'

export function readyProviders({ providers }: Pick<Facts, 'providers'>): readonly StartProvider[] {
  return providers.filter(({ variables, is_set: isSet }) => variables.length > 0 && isSet)
}

/** Keys that may call models, the newest first. */
export function callingKeys(keys: readonly ApiKey[]): readonly ApiKey[] {
  return keys.filter(({ kind, disabled }) => kind === 'inference' && !disabled)
}

function KeyWanted(props: OwnKeyProps): ComponentChild {
  const { name, variables, misplaced, secret } = props.provider
  return (
    <div class="stack">
      {misplaced.length > 0 && (
        <p>
          <code>{misplaced.join(' and ')}</code>
          {` contains a Sluice key, which ${name} does not accept. This key is ignored.`}
        </p>
      )}
      <p>
        {`The node has no ${name} key. Set `}
        <code>{variables.join(' and ')}</code>
        {' in the environment of the node and restart the node. This step turns green when the key is set.'}
      </p>
      {secret !== null && [
        <p key="own">
          {'Or store a key for the workspace '}
          <code>default</code>
          {' only. '}
          <a href="/docs/guides/provider-keys">Provider keys of workspaces</a>
        </p>,
        <OwnKey key="form" {...props} />,
      ]}
    </div>
  )
}

interface MadeKey {
  readonly key: string
  readonly name: string
}

interface MakeKeyProps {
  readonly context: PageContext
  /** Null: none was created here. */
  readonly made: MadeKey | null
  readonly keys: KeyNames
  onMade(key: MadeKey): void
}

/** Keys that are listed by name; the others are counted. */
const NAMED_KEYS = 3

function keysText({ keys, nameOf }: KeyNames): string {
  const known = callingKeys(keys)
  const names = known.slice(0, NAMED_KEYS).map(({ hash }) => nameOf(hash))
  const more = known.length - names.length
  return `Existing keys: ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}. Use an existing key, or create another.`
}

function MakeKey({ context: { api, say }, made, keys, onMade }: MakeKeyProps): ComponentChild {
  const [name, setName] = useState('First app')
  const hasKey = made !== null || callingKeys(keys.keys).length > 0
  const { isBusy, problem, start } = useAction(
    async () => {
      const { key } = await api.send<{ key: string }>('POST', ['keys'], { name: name.trim() })
      onMade({ key, name: name.trim() })
    },
    () => say('Key created.'),
  )
  return (
    <Step title="2. Create a key" isDone={hasKey} done="created">
      {made === null && hasKey && <p>{keysText(keys)}</p>}
      {made === null ? (
        <Form action="Create key" isBusy={isBusy} problem={problem} onSubmit={start}>
          <TextField
            label="Key name"
            value={name}
            onInput={setName}
            isRequired
            hint="Programs call models with this key. The key is shown once."
            error={errorAbout(problem, 'name')}
          />
        </Form>
      ) : (
        [
          <p key="once">
            <strong>Copy the key now: it is not shown again.</strong> {'Set limits on the page '}
            <a href={hashOf('keys')}>Keys</a>.
          </p>,
          <CopyBox key="box" label={`API key ${made.name}`} text={made.key} />,
        ]
      )}
    </Step>
  )
}

interface PasteCallProps extends ProviderProps {
  /** Null: no key was created here. */
  readonly made: MadeKey | null
  /** Name of an existing key; null: none. */
  readonly known: string | null
  readonly call: FirstCall
}

function PasteCall({ facts, provider, made, known, call }: PasteCallProps): ComponentChild {
  const [language, setLanguage] = useState<Language>('curl')
  const model = provider?.model ?? facts.providers.find(({ slug }) => slug === BUILT_IN)?.model ?? null
  const name = made?.name ?? known
  const choose = (value: string): void => setLanguage(LANGUAGES.find(([one]) => one === value)?.[0] ?? 'curl')
  return (
    <Step title="3. Call a model" isDone={call.kind === 'seen'} done="first call seen">
      <SelectField label="Language" value={language} options={LANGUAGES} onInput={choose} />
      {model === null ? (
        <p class="empty">This provider has no chat or embeddings model.</p>
      ) : (
        <CopyBox
          label={`Sample call to ${model.id}${name === null ? '' : ` with the key ${name}`}`}
          text={sampleOf(language, { apiUrl: facts.api_url, key: made?.key ?? null, name, model })}
          isCode
        />
      )}
      <CallState call={call} />
    </Step>
  )
}

function CallState({ call }: { readonly call: FirstCall }): ComponentChild {
  switch (call.kind) {
    case 'none':
      return <p class="empty">Waiting for the first call…</p>
    case 'refused':
      return (
        <p class="notice warn" role="status">
          {`A ${call.operation} call was refused. `}
          <a href={hashOf('requests', { show: 'failed' })}>View failed calls</a>
        </p>
      )
    case 'seen':
      return (
        <p class="notice good">
          {call.operation === null ? 'First call seen.' : `First call seen: ${call.operation}.`}
          <a href={hashOf('now')}>View live figures</a>
        </p>
      )
  }
}

/** Whether a model has been called, and by which operation. */
type FirstCall =
  | { readonly kind: 'none' }
  | { readonly kind: 'refused'; readonly operation: string }
  /** `operation` is null for a call before the page was open, or at another node. */
  | { readonly kind: 'seen'; readonly operation: string | null }

/** Views for which a refusal stays shown: one arrives each second. */
const REFUSAL_LOOKS = 10
/** Calls a second below which a rate may only be a rounding error. */
const NO_RATE = 0.01

/**
 * The first call of a model in these views.
 * @param views of the live stream, the newest at the end
 * @param hasCalled true if the node has recorded a call
 */
function firstCallOf(looks: readonly LiveView[], hasCalled: boolean): FirstCall {
  const calls = looks.map(({ operations }) => operations.filter(({ operation }) => operation in REPEATABLE))
  const answered = calls.flat().find(isAnswered)
  if (answered !== undefined) return { kind: 'seen', operation: answered.operation }
  if (hasCalled) return { kind: 'seen', operation: null }
  const refused = calls.slice(-REFUSAL_LOOKS).flat().find(isRefused)
  return refused === undefined ? { kind: 'none' } : { kind: 'refused', operation: refused.operation }
}

function isAnswered(view: OperationView): boolean {
  return view.per_second - view.refused_per_second - view.failed_per_second > NO_RATE
}

function isRefused(view: OperationView): boolean {
  return view.refused_per_second + view.failed_per_second > NO_RATE
}

interface OwnProviderKey {
  readonly provider: string
}

function useOwnKeys(
  { api }: PageContext,
  provider: StartProvider | undefined,
): Loaded<readonly OwnProviderKey[]> {
  const slug = provider?.slug
  return useLoaded(
    async (signal) =>
      (await api.get<{ data: readonly OwnProviderKey[] }>(['byok'], { provider: slug }, signal)).data,
    [api, slug],
  )
}

interface OwnKeyProps {
  readonly context: PageContext
  readonly provider: StartProvider
  onStored(): void
}

/** Stores a key for a provider in the vault of the default workspace. */
function OwnKey({ context: { api, say }, provider, onStored }: OwnKeyProps): ComponentChild {
  const { slug, name, secret } = provider
  const [key, setKey] = useState('')
  const { isBusy, problem, start } = useAction(
    () => api.send('POST', ['byok'], { provider: slug, key: key.trim() }),
    () => {
      setKey('')
      say(`${name} key stored.`)
      onStored()
    },
  )
  return (
    <Form action="Store key" isBusy={isBusy} problem={problem} onSubmit={start}>
      <TextField
        label={`${name} key`}
        type="password"
        value={key}
        onInput={setKey}
        isRequired
        hint={`Encrypted in the vault as ${secret?.name ?? ''} and sent only to ${secret?.host ?? ''}.`}
        error={errorAbout(problem, 'key')}
      />
    </Form>
  )
}
