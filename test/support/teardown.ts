/** What ends what a test has opened: a test of tap, or whoever stands in for one. */
export interface Teardown {
  teardown(done: () => Promise<void> | void): unknown
}
