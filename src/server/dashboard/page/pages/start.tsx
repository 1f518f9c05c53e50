import { h, type ComponentChild, type ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { StartAnswer, StartProvider } from '../../../../schemas/operator/start.ts'
import { useLive } from '../live.ts'
import { hashOf, type Page, type PageContext } from '../page.ts'
import { Badge } from '../parts/badge.tsx'
import { CopyBox } from '../parts/copy-box.tsx'
import { useAction } from '../parts/dialog.tsx'
import { errorAbout, Form, SelectField, TextField } from '../parts/fields.tsx'
import { Awaited, useLoaded } from '../parts/loaded.tsx'
import { useRefresh } from '../parts/refresh.ts'
import { firstCallOf, type FirstCall } from './first-call.ts'
import { OwnKey, useOwnKeys, type OwnKeyProps } from './start-own-key.tsx'
import { LANGUAGES, sampleOf, type Language } from './start-samples.ts'

export const startPage: Page = {
  path: 'start',
  title: 'Start',
  letter: 't',
  view: (context) => <Start {...context} />,
}

type Facts = StartAnswer['data']

/** Three steps to the first call, each green once it has happened. */
function Start(context: PageContext): ComponentChild {
  const { api, live, query, say } = context
  const [key, setKey] = useState<string | null>(null)
  const loaded = useLoaded((signal) => api.get<StartAnswer>(['admin', 'start'], {}, signal), [api])
  const facts = loaded.value?.data
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
        <MakeKey context={context} made={key} onMade={setKey} />
        <PasteCall context={context} facts={facts} provider={provider} apiKey={key} call={call} />
      </ol>
    </div>
  )
}

interface StepProps {
  readonly title: string
  readonly isDone: boolean
  /** In one or two words, once it is done. */
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
  const hasOwnKey = ownKeys.value?.some((key) => key.provider === provider?.slug) === true
  const options = facts.providers.map((one) => [one.slug, optionOf(one)] as const)
  return (
    <Step title="1. Choose a provider" isDone={provider?.is_set === true || hasOwnKey} done="ready">
      <SelectField
        label="Provider"
        value={provider?.slug ?? ''}
        options={[['', 'Choose one'], ...options]}
        onInput={(slug) => context.setQuery({ provider: slug })}
      />
      {provider !== undefined && hasOwnKey && (
        <p>{`A workspace has a key of its own for ${provider.name}.`}</p>
      )}
      {provider?.is_set === false && !hasOwnKey && (
        <KeyWanted key={provider.slug} context={context} provider={provider} onStored={ownKeys.reload} />
      )}
    </Step>
  )
}

function optionOf({ slug, name, variables, is_set: isSet }: StartProvider): string {
  if (slug === BUILT_IN) return `${name}: built-in models, no key and no cost`
  if (variables.length === 0) return `${name}: needs no key`
  return isSet ? `${name}: its key is set` : name
}

/** Slug of the provider whose models are built in. */
const BUILT_IN = 'local'

/** The two ways by which the key of a provider comes to the node. */
function KeyWanted(props: OwnKeyProps): ComponentChild {
  const { name, variables, misplaced, secret } = props.provider
  return (
    <div class="stack">
      {misplaced.length > 0 && (
        <p>
          <code>{misplaced.join(' and ')}</code>
          {` holds a key of Sluice, which ${name} does not know. So it counts as not set.`}
        </p>
      )}
      <p>
        {`The node has no key of ${name}. Set `}
        <code>{variables.join(' and ')}</code>
        {' in the environment of the node and start it again: this step turns green when it is there.'}
      </p>
      {secret !== null && [
        <p key="own">
          {'Or store a key for the workspace '}
          <code>default</code>
          {' alone. '}
          <a href="/docs/guides/provider-keys">What such a key is for</a>
        </p>,
        <OwnKey key="form" {...props} />,
      ]}
    </div>
  )
}

interface MakeKeyProps {
  readonly context: PageContext
  /** Null: none was made here. */
  readonly made: string | null
  onMade(key: string): void
}

function MakeKey({ context: { api, say }, made, onMade }: MakeKeyProps): ComponentChild {
  const [name, setName] = useState('First app')
  const { isBusy, problem, start } = useAction(
    async () => {
      const { key } = await api.send<{ key: string }>('POST', ['keys'], { name: name.trim() })
      onMade(key)
    },
    () => say('The key is made.'),
  )
  return (
    <Step title="2. Make a key" isDone={made !== null} done="made">
      {made === null ? (
        <Form action="Make a key" isBusy={isBusy} problem={problem} onSubmit={start}>
          <TextField
            label="Name of the key"
            value={name}
            onInput={setName}
            isRequired
            hint="Programs call models with it. It is shown once."
            error={errorAbout(problem, 'name')}
          />
        </Form>
      ) : (
        [
          <p key="once">
            <strong>Copy it now: it is not shown again.</strong> {'Limits and expiry are on the page '}
            <a href={hashOf('keys')}>Keys</a>.
          </p>,
          <CopyBox key="box" label="API key" text={made} />,
        ]
      )}
    </Step>
  )
}

interface PasteCallProps extends ProviderProps {
  readonly apiKey: string | null
  readonly call: FirstCall
}

function PasteCall({ facts, provider, apiKey, call }: PasteCallProps): ComponentChild {
  const [language, setLanguage] = useState<Language>('curl')
  const model = provider?.model ?? facts.providers.find(({ slug }) => slug === BUILT_IN)?.model ?? null
  const choose = (value: string): void => setLanguage(LANGUAGES.find(([one]) => one === value)?.[0] ?? 'curl')
  return (
    <Step title="3. Paste a call" isDone={call.kind === 'seen'} done="first call seen">
      <SelectField label="Language" value={language} options={LANGUAGES} onInput={choose} />
      {model === null ? (
        <p class="empty">This provider serves no model that writes or embeds.</p>
      ) : (
        <CopyBox
          label={`A call of ${model.id}, for a terminal`}
          text={sampleOf(language, { apiUrl: facts.api_url, key: apiKey, model })}
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
      return <p class="empty">Waiting for a first call…</p>
    case 'refused':
      return (
        <p class="notice warn" role="status">
          {`A call of ${call.operation} came and was refused: its answer says why. `}
          <a href={hashOf('now')}>View problems</a>
        </p>
      )
    case 'seen':
      return (
        <p class="notice good">
          {call.operation === null ? 'First call seen.' : `First call seen: ${call.operation}.`}
          <a href={hashOf('now')}>See what the node does now</a>
        </p>
      )
  }
}
