import Type, { type Static } from 'typebox'

/** Kinds of calls with which a provider's model is tested. */
export const TRIAL_KINDS = ['chat', 'embeddings'] as const

const StartProvider = Type.Object({
  slug: Type.String({
    description: 'Slug of the provider in the catalogue; `local` for the built-in models.',
  }),
  name: Type.String({ description: 'Display name.' }),
  variables: Type.Array(Type.String(), {
    description:
      "Environment variables of the node that hold the operator's key for the provider; empty if the provider needs no key.",
  }),
  is_set: Type.Boolean({ description: 'True when all variables are set on the node that answered.' }),
  misplaced: Type.Array(Type.String(), {
    description: 'Variables that hold a Sluice key instead of a provider key and therefore count as not set.',
  }),
  secret: Type.Union(
    [
      Type.Object({
        name: Type.String({ description: "Name of the secret that holds a workspace's own key." }),
        host: Type.String({ description: 'Host to which the secret is bound.' }),
      }),
      Type.Null(),
    ],
    { description: "Secret for a workspace's own key; null when the provider does not support one." },
  ),
  model: Type.Union(
    [
      Type.Object({
        id: Type.String({ description: 'Id of the model.' }),
        kind: Type.Enum([...TRIAL_KINDS], { description: 'Operation that calls the model.' }),
      }),
      Type.Null(),
    ],
    {
      description: 'A model to try; null when the provider serves no text or embedding model.',
    },
  ),
})
export type StartProvider = Static<typeof StartProvider>

export const StartAnswer = Type.Object({
  data: Type.Object({
    api_url: Type.String({ description: 'Base URL of the API.' }),
    has_called: Type.Boolean({
      description: 'True when a model was called within the last year.',
    }),
    providers: Type.Array(StartProvider, { description: 'Providers, in catalogue order.' }),
  }),
})
export type StartAnswer = Static<typeof StartAnswer>
