import { h, type ComponentChild } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApiKey } from '../../../schemas/keys/keys.ts'
import type { StartAnswer } from '../../../schemas/operator/start.ts'
import { ApiError, beginSession, createApi, endSession, messageOf, type Api } from './api.ts'
import { openLiveFeed, type LiveFeed } from './live.ts'
import type { Session } from './page.ts'
import { callingKeys, readyProviders } from './pages/start.tsx'
import { forgetToken, storedToken, storeToken, watchToken } from './session-token.ts'
import { Shell, type SignedIn } from './shell.tsx'
import { Resuming, SignIn } from './sign-in.tsx'

/** What is shown: the sign-in with the reason for it, a session that is looked for, or what is behind it. */
type Shown =
  | { readonly kind: 'out'; readonly message: string | null }
  | { readonly kind: 'resuming'; readonly problem: string | null }
  | { readonly kind: 'in'; readonly signedIn: SignedIn }

/** What a sign-out says that the node did not confirm. */
const STILL_OPEN =
  'The session may still be active on the node. It ends after 15 minutes of inactivity or when you sign in here again.'

/** The sign-in, or what is behind it. The key is gone from the page with the sign-in; a session goes on. */
export function App(): ComponentChild {
  const [shown, setShown] = useState<Shown>(() =>
    storedToken() === null ? { kind: 'out', message: null } : { kind: 'resuming', problem: null },
  )
  const live = useRef<LiveFeed | null>(null)
  // The node ends this window's last session with its next sign-in, whatever became of the session here.
  const lastToken = useRef<string | null>(null)
  const leave = (message: string | null): void => {
    live.current?.close()
    live.current = null
    setShown({ kind: 'out', message })
  }
  const enter = async (pageToken: string): Promise<void> => {
    let own: LiveFeed | null = null
    lastToken.current = pageToken
    // A late refusal of a session that has ended is none of the next one.
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

/** How far the steps of the page Start are. A node that cannot say so counts as begun. */
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

/** The node is starting, restarting or out of reach: the session may still be there. */
function isAway(problem: unknown): boolean {
  return problem instanceof ApiError && (problem.status === 0 || problem.type === 'busy')
}
