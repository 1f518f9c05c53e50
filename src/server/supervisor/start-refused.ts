/** The node cannot or must not start (or continue): the message says how the operator can fix it. Exit code 1. */
export class StartRefused extends Error {}
