import { h, type ComponentChild } from 'preact'
import { useState } from 'preact/hooks'
import type { StartProvider } from '../../../../schemas/operator/start.ts'
import type { PageContext } from '../page.ts'
import { useAction } from '../parts/dialog.tsx'
import { errorAbout, Form, TextField } from '../parts/fields.tsx'
import { useLoaded, type Loaded } from '../parts/loaded.tsx'

/** An entry of `GET /byok`, as far as the page reads it. */
interface OwnProviderKey {
  readonly provider: string
}

/** The keys that workspaces have of their own, for one provider or for any. */
export function useOwnKeys(
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

export interface OwnKeyProps {
  readonly context: PageContext
  readonly provider: StartProvider
  onStored(): void
}

/** Stores a key for a provider in the vault of the default workspace. */
export function OwnKey({ context: { api, say }, provider, onStored }: OwnKeyProps): ComponentChild {
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
