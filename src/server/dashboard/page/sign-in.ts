import { h, type ComponentChild } from 'preact'
import { useState } from 'preact/hooks'
import { ApiError } from './api.ts'
import { useAction } from './parts/dialog.ts'
import { Form, TextField } from './parts/fields.ts'

const KEY_SHAPE = /^[!-~]+$/
/** Answers to a key that is none for this page, by their code. */
const REFUSALS: Readonly<Record<string, string>> = {
  wrong_key_kind:
    'This is not a management key. Keys that call models cannot sign in here: take a key of the kind “management”.',
  operator_only:
    'This management key belongs to another organization than the one that operates this installation.',
}

export interface SignInProps {
  /** Why somebody is here again. */
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
  return h(
    'main',
    { class: 'sign-in' },
    h('h1', null, 'Sluice'),
    message !== null && h('p', { class: 'notice warn', role: 'alert' }, message),
    h(
      Form,
      { action: 'Sign in', isBusy, problem, onSubmit: start },
      h(TextField, {
        label: 'Management key',
        type: 'password',
        value: key,
        onInput: setKey,
        isRequired: true,
        hasFocus: true,
      }),
    ),
    h(
      'div',
      { class: 'hint' },
      h('p', null, 'The key stays in the memory of this page: it is gone when you reload or close it.'),
      h(
        'p',
        null,
        'The first one stands in ',
        h('code', null, 'first-keys.json'),
        ' in the data directory of a fresh installation. ',
        h('code', null, 'sluice keys create --kind management --name ops'),
        ' makes another.',
      ),
    ),
  )
}

function checked(text: string): string {
  const key = text.trim()
  if (!KEY_SHAPE.test(key)) throw new ApiError('A key has letters, digits, hyphens and underscores alone.')
  return key
}

function explain(problem: unknown): never {
  const sentence = problem instanceof ApiError ? REFUSALS[problem.type] : undefined
  throw sentence === undefined ? problem : new ApiError(sentence)
}
