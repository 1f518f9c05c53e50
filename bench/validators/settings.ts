/** The input and result of a validator's process. */
export const VALIDATORS = ['sluice', 'typebox-0.34', 'ajv', 'zod'] as const
export type ValidatorName = (typeof VALIDATORS)[number]

export const VALIDATED = ['embeddings', 'video', 'preset_chat'] as const
export type ValidatedBody = (typeof VALIDATED)[number]

export interface ValidatorSettings {
  readonly name: ValidatorName
  /** Folder with the installed ajv and zod. */
  readonly packages: string
}

export interface Input {
  readonly body: ValidatedBody
  /** Name of a sample of that body. */
  readonly sample: string
  readonly durationMs: number
}

export interface Found {
  readonly validations: number
  readonly cpuUs: number
  readonly wallMs: number
  readonly rssBytes: number
  /** The common result of all checks. */
  readonly isAccepted: boolean
}
