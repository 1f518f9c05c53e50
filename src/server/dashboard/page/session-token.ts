/**
 * Name in the storage of the page's half of its session. A browser gives it to pages of this very address and
 * port alone. It opens nothing without the cookie, which no script can read.
 */
const STORED = 'sluice-page-token'

/** Null when no session was begun in this browser, or when the browser lets pages store nothing. */
export function storedToken(): string | null {
  try {
    return localStorage.getItem(STORED)
  } catch {
    return null
  }
}

/** Without storage the session lasts as long as the page. */
export function storeToken(pageToken: string): void {
  try {
    localStorage.setItem(STORED, pageToken)
  } catch {
    // The page goes on with what it has in memory.
  }
}

/** Forgets a session, unless another window has begun the next one meanwhile. */
export function forgetToken(pageToken: string): void {
  if (storedToken() === pageToken) localStorage.removeItem(STORED)
}

/** Calls when another window has signed in or out. @returns a function that ends it */
export function watchToken(changed: (pageToken: string | null) => void): () => void {
  const look = ({ key, newValue }: StorageEvent): void => {
    if (key === STORED) changed(newValue)
  }
  addEventListener('storage', look)
  return () => removeEventListener('storage', look)
}
