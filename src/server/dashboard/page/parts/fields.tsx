import { h, type ComponentChild, type ComponentChildren } from 'preact'
import { useId, useLayoutEffect } from 'preact/hooks'
import { ApiError, messageOf } from '../api.ts'

interface FieldProps {
  readonly label: string
  readonly value: string
  onInput(value: string): void
  readonly hint?: string | undefined
  /** The error in the field's value. */
  readonly error?: string | undefined
  readonly isRequired?: boolean
  readonly isDisabled?: boolean
  readonly hasFocus?: boolean
}

export interface TextFieldProps extends FieldProps {
  readonly type?: 'text' | 'number' | 'password' | 'search' | 'date' | 'datetime-local'
  readonly placeholder?: string
  readonly min?: number | string
  readonly max?: number | string
  readonly step?: number | string
  readonly maxLength?: number
}

export function TextField({
  type = 'text',
  placeholder,
  min,
  max,
  step,
  maxLength,
  ...field
}: TextFieldProps): ComponentChild {
  return (
    <Field
      field={field}
      // Not JSX: its types allow only one literal kind of input, but no union of kinds.
      control={(props) =>
        h('input', {
          ...props,
          type,
          placeholder,
          min,
          max,
          step,
          maxLength,
          autofocus: field.hasFocus,
          autocomplete: 'off',
          spellcheck: false,
        })
      }
    />
  )
}

export interface SelectFieldProps extends FieldProps {
  readonly options: readonly (readonly [value: string, text: string])[]
}

export function SelectField({ options, ...field }: SelectFieldProps): ComponentChild {
  return (
    <Field
      field={field}
      control={({ value, ...props }) => (
        <select {...props} value={value}>
          {options.map(([option, text]) => (
            <option key={option} value={option} selected={option === value}>
              {text}
            </option>
          ))}
        </select>
      )}
    />
  )
}

export interface CheckFieldProps {
  readonly label: string
  readonly isOn: boolean
  onChange(isOn: boolean): void
  readonly hint?: string
}

export function CheckField({ label, isOn, onChange, hint }: CheckFieldProps): ComponentChild {
  const change = (event: Event): void => onChange((event.currentTarget as HTMLInputElement).checked)
  return (
    <label class="check">
      <input type="checkbox" checked={isOn} onChange={change} />
      {label}
      {hint !== undefined && <small class="hint">{hint}</small>}
    </label>
  )
}

export interface FormProps {
  onSubmit(): void
  onCancel?(): void
  /** On the button. */
  readonly action: string
  readonly isBusy: boolean
  /** The error of the last attempt; what it reports about single fields is also shown at these. */
  readonly problem: unknown
  readonly children?: ComponentChildren
}

/** Fields, the error, and the buttons. */
export function Form({ onSubmit, onCancel, action, isBusy, problem, children }: FormProps): ComponentChild {
  const submit = (event: Event): void => {
    event.preventDefault()
    if (!isBusy) onSubmit()
  }
  return (
    <form onSubmit={submit}>
      <div class="body">{children}</div>
      {problem !== null && problem !== undefined && (
        <p class="notice bad" role="alert">
          {messageOf(problem)}
        </p>
      )}
      <footer>
        {onCancel !== undefined && (
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        )}
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? 'Working…' : action}
        </button>
      </footer>
    </form>
  )
}

/** The message of a refused form about one of its fields. */
export const errorAbout = (problem: unknown, field: string): string | undefined =>
  problem instanceof ApiError ? problem.about(field) : undefined

interface ControlProps {
  readonly id: string
  readonly value: string
  readonly required: boolean | undefined
  readonly disabled: boolean | undefined
  readonly 'aria-invalid': boolean | undefined
  readonly 'aria-describedby': string | undefined
  readonly onInput: (event: Event) => void
}

function Field({
  field,
  control,
}: {
  readonly field: FieldProps
  control(props: ControlProps): ComponentChild
}): ComponentChild {
  const { label, value, onInput, hint, error, isRequired, isDisabled, hasFocus = false } = field
  const id = useId()
  // The attribute `autofocus` works in a dialog, but not on a page drawn later.
  useLayoutEffect(() => {
    if (hasFocus) document.getElementById(id)?.focus()
  }, [])
  const note = error ?? hint
  return (
    <div class={error === undefined ? 'field' : 'field wrong'}>
      <label for={id}>{label}</label>
      {control({
        id,
        value,
        required: isRequired,
        disabled: isDisabled,
        'aria-invalid': error === undefined ? undefined : true,
        'aria-describedby': note === undefined ? undefined : `${id}-note`,
        onInput: (event) => onInput((event.currentTarget as HTMLInputElement).value),
      })}
      {note !== undefined && (
        <small id={`${id}-note`} class="hint">
          {note}
        </small>
      )}
    </div>
  )
}
