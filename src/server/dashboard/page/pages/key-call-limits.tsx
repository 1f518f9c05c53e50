import { h, type ComponentChild } from 'preact'
import type { CallLimits } from '../../../../schemas/limits/model-calls.ts'
import type { DEFAULT_OUTPUT_TOKENS_MIN } from '../../../../schemas/limits/rate-limits.ts'
import { errorAbout, TextField } from '../parts/fields.tsx'
import { count } from '../parts/figures.tsx'

interface CallField {
  readonly name: keyof CallLimits
  readonly label: string
  readonly min: number
  readonly hint: string
  /** The field in a list of limits. */
  readonly text: (value: number) => string
}

/** Limits of calls to models, in the order of the form. */
const FIELDS: readonly CallField[] = [
  {
    name: 'max_parallel',
    label: 'Concurrent calls',
    min: 1,
    hint: 'Optional. No limit if empty.',
    text: (value) => `${count(value)} concurrent calls`,
  },
  {
    name: 'rate_limit_tpm',
    label: 'Tokens per minute',
    min: 1,
    hint: 'Optional. No limit if empty.',
    text: (value) => `${count(value)} tokens/min`,
  },
  {
    name: 'default_max_output_tokens',
    label: 'Default max. output tokens',
    min: 16 satisfies typeof DEFAULT_OUTPUT_TOKENS_MIN,
    hint: "Optional. If empty, the endpoint's own limit applies.",
    text: (value) => `${count(value)} output tokens by default`,
  },
]

/** What the fields hold, as text. */
export type CallInput = Readonly<Record<keyof CallLimits, string>>

export function callInputOf(limits: CallLimits | null): CallInput {
  return mapped((name) => String(limits?.[name] ?? ''))
}

/** An empty field removes the limit. */
export function callLimitsBody(input: CallInput): CallLimits {
  return mapped((name) => (input[name] === '' ? null : Number(input[name])))
}

function mapped<T>(valueOf: (name: keyof CallLimits) => T): Record<keyof CallLimits, T> {
  const entries = FIELDS.map(({ name }) => [name, valueOf(name)])
  return Object.fromEntries(entries) as Record<keyof CallLimits, T>
}

export interface CallLimitFieldsProps {
  readonly input: CallInput
  readonly problem: unknown
  onChange(input: CallInput): void
}

export function CallLimitFields({ input, problem, onChange }: CallLimitFieldsProps): ComponentChild {
  return (
    <div class="pair">
      {FIELDS.map(({ name, label, min, hint }) => (
        <TextField
          key={name}
          label={label}
          type="number"
          min={min}
          step={1}
          value={input[name]}
          onInput={(value) => onChange({ ...input, [name]: value })}
          hint={hint}
          error={errorAbout(problem, name)}
        />
      ))}
    </div>
  )
}

/** A line for each limit that is set. */
export function callLimitLines(limits: CallLimits): readonly string[] {
  return FIELDS.flatMap(({ name, text }) => {
    const value = limits[name]
    return value === null ? [] : [text(value)]
  })
}
