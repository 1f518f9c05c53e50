/** Why the embedded Postgres cannot be used, in words for the operator. */
export class EmbeddedPostgresError extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(
      `The embedded Postgres cannot start: ${reason}. Set DATABASE_URL to use your own Postgres.`,
      options,
    )
  }
}
