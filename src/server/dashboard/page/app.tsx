import { h, type ComponentChild } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { createApi } from './api.ts'
import { openLiveFeed, type LiveFeed } from './live.ts'
import type { Session } from './page.ts'
import { Shell, type SignedIn } from './shell.tsx'
import { SignIn } from './sign-in.tsx'

/**
 * The sign-in, or what is behind it. The key is gone with the page, and with everything that was loaded by
 * it.
 */
export function App(): ComponentChild {
  const [signedIn, setSignedIn] = useState<SignedIn | null>(null)
  const [message, setMessage] = useState<string | null>(null)
  const live = useRef<LiveFeed | null>(null)
  const signOut = (reason: string | null): void => {
    live.current?.close()
    live.current = null
    setMessage(reason)
    setSignedIn(null)
  }
  const signIn = async (key: string): Promise<void> => {
    setMessage(null)
    let own: LiveFeed | null = null
    // A late refusal of a session that has ended is none of the next one.
    const api = createApi(
      key,
      (reason) => own !== null && own === live.current && signOut(`You were signed out. ${reason}`),
    )
    const { data: session } = await api.get<{ data: Session }>(['admin', 'session'])
    own = live.current = openLiveFeed(api)
    setSignedIn({ api, live: own, session })
  }
  return signedIn === null ? (
    <SignIn message={message} signIn={signIn} />
  ) : (
    <Shell {...signedIn} signOut={() => signOut(null)} />
  )
}
