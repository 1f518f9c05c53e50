import { h, type ComponentChild } from 'preact'
import { useState } from 'preact/hooks'
import { ApiError } from './api.ts'
import { useAction } from './parts/dialog.tsx'
import { Form, TextField } from './parts/fields.tsx'
import { Awaited } from './parts/loaded.tsx'

const KEY_SHAPE = /^[!-~]+$/
/** Answers to a key that is none for this page, by their code. */
const REFUSALS: Readonly<Record<string, string>> = {
  wrong_key_kind: 'This is not a management key. Sign in with a management key.',
  operator_only: 'This management key belongs to an organization that does not operate this installation.',
}

export interface SignInProps {
  /** The reason that the sign-in page shows again. */
  readonly message: string | null
  /** Rejects when the key is refused. */
  signIn(key: string): Promise<void>
}

export function SignIn({ message, signIn }: SignInProps): ComponentChild {
  const [key, setKey] = useState('')
  const { isBusy, problem, start } = useAction(
    async () => signIn(checked(key)).catch(explain),
    () => undefined,
  )
  return (
    <main class="sign-in">
      <Brand />
      {message !== null && (
        <p class="notice warn" role="alert">
          {message}
        </p>
      )}
      <Form action="Sign in" isBusy={isBusy} problem={problem} onSubmit={start}>
        <TextField label="Management key" type="password" value={key} onInput={setKey} isRequired hasFocus />
      </Form>
      <div class="hint">
        <p>
          The key is sent once and not stored in this browser. A session lasts up to 12 hours, and ends after
          15 minutes of inactivity.
        </p>
        <p>
          {'On a new installation, find the first key in '}
          <code>first-keys.json</code>
          {' in the data folder. '}
          <code>bin/sluice keys create --kind management --name ops</code>
          {' creates another.'}
        </p>
      </div>
    </main>
  )
}

function Brand(): ComponentChild {
  return (
    <h1 class="brand">
      <img src="mark.svg" width={32} height={32} alt="" />
      Sluice
    </h1>
  )
}

/** While the page asks whether its session goes on. */
export function Resuming({
  problem,
  again,
}: {
  readonly problem: string | null
  again(): void
}): ComponentChild {
  return (
    <main class="sign-in">
      <Brand />
      <Awaited value={undefined} problem={problem} isLoading={problem === null} reload={again} />
    </main>
  )
}

function checked(text: string): string {
  const key = text.trim()
  if (!KEY_SHAPE.test(key))
    throw new ApiError('A key contains only letters, digits, hyphens and underscores.')
  return key
}

function explain(problem: unknown): never {
  const sentence = problem instanceof ApiError ? REFUSALS[problem.type] : undefined
  throw sentence === undefined ? problem : new ApiError(sentence)
}
