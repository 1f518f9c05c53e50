import { type ComponentChild, h, render } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApiKey } from '../../../schemas/keys/keys.ts'
import type { StartAnswer } from '../../../schemas/operator/start.ts'
import { followTheme } from './theme.tsx'
import { type Api, ApiError, beginSession, createApi, endSession, messageOf } from './api.ts'
import { openLiveFeed, type LiveFeed } from './live.ts'
import type { Session } from './page.ts'
import { callingKeys, readyProviders } from './pages/start.tsx'
import { Shell, type SignedIn } from './shell.tsx'
import { useAction } from './parts/dialog.tsx'
import { Form, TextField } from './parts/fields.tsx'
import { Awaited } from './parts/loaded.tsx'

const STILL_OPEN =
  'The session may still be active on the node. It ends after 15 minutes of inactivity or when you sign in here again.'

/** The state of the page: the sign-in with its reason, a session being resumed, or the signed-in pages. */
type Shown =
  | { readonly kind: 'out'; readonly message: string | null }
  | { readonly kind: 'resuming'; readonly problem: string | null }
  | { readonly kind: 'in'; readonly signedIn: SignedIn }

/** The sign-in or the signed-in pages. The page forgets the key with the sign-in form; the session continues. */
function App(): ComponentChild {
  const [shown, setShown] = useState<Shown>(() =>
    storedToken() === null ? { kind: 'out', message: null } : { kind: 'resuming', problem: null },
  )
  const live = useRef<LiveFeed | null>(null)
  // The node ends this window's last session with its next sign-in, even if the session has already ended
  // here.
  const lastToken = useRef<string | null>(null)
  const leave = (message: string | null): void => {
    live.current?.close()
    live.current = null
    setShown({ kind: 'out', message })
  }
  const enter = async (pageToken: string): Promise<void> => {
    let own: LiveFeed | null = null
    lastToken.current = pageToken
    // A late refusal of an ended session must not end the next one.
    const api = createApi(pageToken, (reason) => {
      forgetToken(pageToken)
      if (own !== null && own === live.current) leave(`You were signed out. ${reason}`)
    })
    const [{ data: session }, begun] = await Promise.all([
      api.get<{ data: Session }>(['admin', 'session']),
      begunOf(api),
    ])
    live.current?.close()
    own = live.current = openLiveFeed(api)
    const signOut = (): void => {
      endSession(pageToken).catch((problem: unknown) => {
        const message = `Sign-out failed. ${messageOf(problem)} ${STILL_OPEN}`
        setShown((now) => (now.kind === 'out' ? { kind: 'out', message } : now))
      })
      forgetToken(pageToken)
      leave(null)
    }
    setShown({ kind: 'in', signedIn: { api, live: own, session, ...begun, signOut } })
  }
  const resume = (pageToken: string | null): void => {
    if (pageToken === null) return leave(null)
    setShown({ kind: 'resuming', problem: null })
    enter(pageToken).catch((problem: unknown) => {
      if (isAway(problem)) setShown({ kind: 'resuming', problem: messageOf(problem) })
      else leave(messageOf(problem))
    })
  }
  useEffect(() => {
    if (shown.kind === 'resuming') resume(storedToken())
    return watchToken(resume)
  }, [])
  const signIn = async (key: string): Promise<void> => {
    setShown({ kind: 'out', message: null })
    const pageToken = await beginSession(key, lastToken.current)
    storeToken(pageToken)
    await enter(pageToken)
  }
  switch (shown.kind) {
    case 'out':
      return <SignIn message={shown.message} signIn={signIn} />
    case 'resuming':
      return <Resuming problem={shown.problem} again={() => resume(storedToken())} />
    case 'in':
      return <Shell key={shown.signedIn.session.key.hash} {...shown.signedIn} />
  }
}

/** Which steps of the page Start are done. A node that cannot report it counts as started. */
async function begunOf(api: Api): Promise<Pick<SignedIn, 'isFresh' | 'isStarting'>> {
  try {
    const [{ data }, own, keys] = await Promise.all([
      api.get<StartAnswer>(['admin', 'start']),
      api.get<{ data: readonly unknown[] }>(['byok']),
      api.get<{ data: readonly ApiKey[] }>(['keys']),
    ])
    const isReady =
      (readyProviders(data).length > 0 || own.data.length > 0) && callingKeys(keys.data).length > 0
    return { isFresh: !data.has_called, isStarting: !data.has_called || !isReady }
  } catch {
    return { isFresh: false, isStarting: false }
  }
}

/** True if the node is starting, restarting or out of reach: the session may still exist. */
function isAway(problem: unknown): boolean {
  return problem instanceof ApiError && (problem.status === 0 || problem.type === 'busy')
}

/**
 * Storage key of the page's half of its session. A browser gives it only to pages of this address and port. It
 * is useless without the cookie, which no script can read.
 */
const STORED = 'sluice-page-token'

/** Null when no session was begun in this browser, or when the browser does not allow pages to store anything. */
function storedToken(): string | null {
  try {
    return localStorage.getItem(STORED)
  } catch {
    return null
  }
}

/** Without storage the session lasts as long as the page. */
function storeToken(pageToken: string): void {
  try {
    localStorage.setItem(STORED, pageToken)
  } catch {
    // The page continues with the token in memory.
  }
}

/** Forgets a session, unless another window has begun the next one meanwhile. */
function forgetToken(pageToken: string): void {
  if (storedToken() === pageToken) localStorage.removeItem(STORED)
}

/** Calls `changed` when another window has signed in or out. @returns a function that stops watching */
function watchToken(changed: (pageToken: string | null) => void): () => void {
  const look = ({ key, newValue }: StorageEvent): void => {
    if (key === STORED) changed(newValue)
  }
  addEventListener('storage', look)
  return () => removeEventListener('storage', look)
}

interface SignInProps {
  /** The reason that the sign-in page shows when the user has to sign in again. */
  readonly message: string | null
  /** Rejects when the key is refused. */
  signIn(key: string): Promise<void>
}

function SignIn({ message, signIn }: SignInProps): ComponentChild {
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

/** Shown while the page checks whether its session is still valid. */
function Resuming({ problem, again }: { readonly problem: string | null; again(): void }): ComponentChild {
  return (
    <main class="sign-in">
      <Brand />
      <Awaited value={undefined} problem={problem} isLoading={problem === null} reload={again} />
    </main>
  )
}

const KEY_SHAPE = /^[!-~]+$/
/** Sign-in error messages by error code. */
const REFUSALS: Readonly<Record<string, string>> = {
  wrong_key_kind: 'This is not a management key. Sign in with a management key.',
  operator_only: 'This management key belongs to an organization that does not operate this installation.',
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

// Runs last: drawing reads the constants above.
followTheme()
render(<App />, document.body)
