export interface TagText {
  readonly text: string
  /** The page of the guides, as its path below `/docs/guides`. */
  readonly guide: string
}

/** Tags of operations, each with its subject and the guide about it. */
export const TAGS = {
  embeddings: { text: 'Turn text, tokens and media into vectors.', guide: 'embeddings' },
  inference: { text: 'Generate text with chat completions, streamed or not.', guide: 'streaming' },
  videos: {
    text: 'Generate videos in jobs: submit a job, poll it, and download its clips.',
    guide: 'videos',
  },
  files: { text: 'Uploaded and promoted files, encrypted at rest.', guide: 'files' },
  containers: { text: 'Files written by sandboxes.', guide: 'files' },
  workspaces: {
    text: 'Workspaces: parts of an organization, each with its own keys, budgets, files and vault.',
    guide: 'workspaces',
  },
  keys: { text: 'API keys: permissions, limits and rotation.', guide: 'keys' },
  interns: {
    text: 'Interns: records of agents that run outside Sluice, each with its own vault.',
    guide: 'interns',
  },
  vault: { text: 'Secrets that programs use without seeing them.', guide: 'vault' },
  byok: {
    text: "A workspace's own provider keys, stored in its vault and never returned.",
    guide: 'provider-keys',
  },
  'private-endpoints': {
    text: 'Your own model endpoints: draft one, validate it with real calls, and activate it in one workspace.',
    guide: 'endpoints',
  },
  presets: {
    text: 'Saved request configurations with versions that can be compared, rolled back and used as a model.',
    guide: 'presets',
  },
  activity: { text: 'Spending by day, key, workspace and model.', guide: 'money' },
  audit: {
    text: 'The audit log: changes, released secrets and refused calls, each with the key that was used.',
    guide: 'audit',
  },
  admin: {
    text: 'For operators: jobs, webhooks, storage, and the history of the node.',
    guide: 'jobs',
  },
  credits: { text: 'Credit: the total spending limit of an organization.', guide: 'money' },
  budgets: { text: 'Spending limits of a workspace per day, week and month, and in total.', guide: 'money' },
  'group-mappings': {
    text: "Mappings of the identity provider's groups to workspace roles.",
    guide: 'scim#groups-from-an-identity-provider',
  },
  egress: { text: 'Requests to hosts of your choice, with secrets inserted by Sluice.', guide: 'egress' },
  scim: {
    text: 'The SCIM 2.0 service, with which identity providers manage users and groups.',
    guide: 'scim',
  },
  models: { text: 'Models, their providers and their prices.', guide: 'models' },
} as const satisfies Readonly<Record<string, TagText>>

export type TagName = keyof typeof TAGS
