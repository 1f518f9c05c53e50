export interface TagText {
  readonly text: string
  /** The page of the guides, as its path below `/docs/guides`. */
  readonly guide: string
}

/** Tags of operations: their subject, and the guide about it. */
export const TAGS = {
  embeddings: { text: 'Turn text, tokens and media into vectors.', guide: 'embeddings' },
  inference: { text: 'Let models write: chat completions, streamed or whole.', guide: 'streaming' },
  videos: {
    text: 'Generate videos in jobs of their own: submit one, poll it, download its clip.',
    guide: 'videos',
  },
  files: { text: 'Uploads and promoted files, sealed at rest.', guide: 'files' },
  containers: { text: 'Files that sandboxes write.', guide: 'files' },
  workspaces: {
    text: 'Parts of an organization, each with keys, budgets, files and a vault of its own.',
    guide: 'workspaces',
  },
  keys: { text: 'API keys: what each may use and spend, and their rotation.', guide: 'keys' },
  interns: {
    text: 'Records of interns, each with a vault of its own; Sluice does not run them.',
    guide: 'interns',
  },
  vault: { text: 'Secrets that programs use without seeing them.', guide: 'vault' },
  byok: {
    text: "A workspace's own provider keys, stored in its vault and never returned.",
    guide: 'provider-keys',
  },
  'private-endpoints': {
    text: 'Model endpoints of your own: drafted, validated by a real call, routable in one workspace.',
    guide: 'endpoints',
  },
  presets: {
    text: 'Request configurations under a slug: saved in versions, compared, rolled back and used as a model.',
    guide: 'presets',
  },
  activity: { text: 'What was spent: by day, key, workspace and model.', guide: 'money' },
  audit: { text: 'Who changed, was given or was refused what.', guide: 'audit' },
  admin: {
    text: 'What operators look into and repair: jobs, webhooks, storage, and what the node did.',
    guide: 'jobs',
  },
  credits: { text: 'What an organization may spend in all.', guide: 'money' },
  budgets: { text: 'What a workspace may spend a day, a week, a month and in all.', guide: 'money' },
  'group-mappings': {
    text: "Groups of the identity provider's, and what they grant in which workspace.",
    guide: 'scim#groups-of-an-identity-provider',
  },
  egress: { text: 'Requests to hosts of your choice, with secrets put in on the way.', guide: 'egress' },
  scim: { text: 'The SCIM 2.0 service, by which identity providers keep users and groups.', guide: 'scim' },
  models: { text: 'What can be called, by whom it is provided, and what it costs.', guide: 'models' },
} as const satisfies Readonly<Record<string, TagText>>

export type TagName = keyof typeof TAGS
