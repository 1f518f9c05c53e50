import Type, { type Static } from 'typebox'

export const ErrorEnvelope = Type.Object({
  error: Type.Object({
    code: Type.Integer({ description: 'Error code, which equals the HTTP status.' }),
    message: Type.String(),
    metadata: Type.Optional(
      Type.Object(
        {
          error_type: Type.String({ description: 'Stable error type, such as `rate_limited`.' }),
          request_id: Type.String(),
          docs_url: Type.Optional(
            Type.String({
              description:
                'URL of the page about this error type, based on `SLUICE_PUBLIC_URL` or the `Host` header; ' +
                'only the path if that header is not a valid host and port.',
            }),
          ),
          issues: Type.Optional(
            Type.Array(Type.Object({ path: Type.String(), message: Type.String(), expected: Type.String() })),
          ),
        },
        { additionalProperties: true },
      ),
    ),
  }),
})
export type ErrorEnvelope = Static<typeof ErrorEnvelope>

/** The error envelope of calls to text models, with members that OpenAI's client shows. */
export const TypedErrorEnvelope = Type.Object({
  error: Type.Object({
    ...ErrorEnvelope.properties.error.properties,
    type: Type.String({ description: 'The error type, as in `error_type`.' }),
    param: Type.Union([Type.String(), Type.Null()], {
      description:
        'Path of the first invalid field, such as `messages[0].role`, or of the field that the provider refused; ' +
        'null if no single field is invalid.',
    }),
  }),
})

export const AccountErrorEnvelope = Type.Object({
  ...ErrorEnvelope.properties,
  sluice_metadata: Type.Union([Type.Object({}, { additionalProperties: true }), Type.Null()]),
  user_id: Type.Union([Type.String(), Type.Null()], { description: 'Id of the user; null when unknown.' }),
})
