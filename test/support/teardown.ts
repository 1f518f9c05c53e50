/** Ends the resources that a test has opened: a test of tap, or a stand-in for one. */
export interface Teardown {
  teardown(done: () => Promise<void> | void): unknown
}

/** For `rm`, which looks again: what ends may write a last file into a folder that was just emptied. */
export const REMOVAL = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 } as const
