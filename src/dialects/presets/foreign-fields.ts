/** Fields of a preset that another form of calls saved, in the words of the caller's form. D6, D10. */
import { fits } from '../../schemas/fits.ts'
import type { Members } from '../../schemas/values/members.ts'
import { CARRIED, isCarried, isDefaultValue, otherField } from '../table/field-table.ts'
import { Others } from '../prompt/others.ts'
import { MAKER } from '../../schemas/models/openai-maker.ts'
import { PROMPT_WRITERS } from '../writers.ts'
import type { Prompt, PromptTool } from '../prompt/prompt.ts'
import type { WriteTerms } from '../prompt/write-terms.ts'
import { OURS_NAMES } from '../../schemas/inference/text-members.ts'
import type { PresetForm } from './text-preset.ts'
import { PROMPT_READERS } from '../translate.ts'
import { anyClaude } from '../../schemas/models/claude-models.ts'
import { PLACES } from '../prompt/prompt-draft.ts'

/** The request that uses a preset. */
export interface PresetRequest {
  /** The model that results. */
  readonly model: string
  /** The most tokens of the answer that the request itself names; null: it names none. */
  readonly tokensMax: number | null
  readonly hasTools: boolean
  /** Its members that the form's conflicts are about. */
  readonly own: Members
}

export interface TakenFields {
  /** Values by the names that they have in the form; without `tools`. */
  readonly fields: Members
  readonly tools: readonly unknown[]
  /** For `x-sluice-dropped`. */
  readonly dropped: readonly string[]
}

interface Forms {
  readonly from: PresetForm
  readonly to: PresetForm
}

/** Fields of Sluice's own that a call would refuse: a preset of another form is never refused. */
const REFUSED: readonly string[] = ['plugins', 'stop_server_tools_when']
/** What writers set of a call, and no preset has. */
const FRAME: readonly string[] = ['model', 'messages', 'input', 'store']
/** Members that writers also set from the request. */
const TOKENS: readonly string[] = ['max_tokens', 'max_completion_tokens']

/**
 * A field without words in the form is dropped and named, whatever table D6 makes of it in a request; so is
 * one that no call could have.
 */
export function foreignFields(forms: Forms, config: Members, request: PresetRequest): TakenFields {
  const { from, to } = forms
  const lost = new Others(from.source)
  const { same, read } = split(forms, config, lost)
  const prompt = PROMPT_READERS[from.source]({ ...from.empty, ...read })
  for (const { name, path } of prompt.others) lost.drop(name, [path])
  const { tools: list, ...members } = writtenIn(to, { prompt, request }, lost)
  const isAsked = (name: string): boolean =>
    !FRAME.includes(name) && (!TOKENS.includes(name) || prompt.tokensMax !== null)
  const fields = Object.entries({ ...same, ...members }).filter(
    ([name, value]) => isAsked(name) && hasRoom(forms, { config, name, value }, lost),
  )
  const fitting = to.conflicts?.fitting(Object.fromEntries(fields), request.own)
  for (const name of fitting?.dropped ?? []) lost.drop(name, [name])
  return {
    fields: fitting?.fields ?? Object.fromEntries(fields),
    tools: Array.isArray(list) ? (list as readonly unknown[]).slice(0, prompt.tools.length) : [],
    dropped: lost.members.map(({ name }) => name),
  }
}

interface Asked {
  readonly prompt: Prompt
  readonly request: PresetRequest
}

/** Members of a call without what the form has no words for. */
function writtenIn({ source }: PresetForm, { prompt, request }: Asked, lost: Others): Members {
  const write = PROMPT_WRITERS[source]
  const terms = termsOf(request)
  const asked = {
    ...prompt,
    others: [],
    tokensMax: request.tokensMax ?? prompt.tokensMax,
    tools: prompt.tools.length === 0 && request.hasTools ? [TOOL_OF_REQUEST] : prompt.tools,
  }
  const first = write(asked, terms)
  const paths = first.refused.map(({ path }) => path)
  for (const path of paths) lost.drop(path.slice(1).replaceAll('/', '.'), [path])
  const { stops, format } = PLACES[prompt.dialect]
  const { body, dropped } =
    paths.length === 0
      ? first
      : write(
          {
            ...asked,
            ...(paths.includes(stops) && { stops: [] }),
            ...(paths.includes(format) && { format: null }),
          },
          terms,
        )
  for (const name of dropped) lost.drop(name, [name])
  return body
}

/** Stands for the tools of the request: without tools writers leave out how to choose among them. */
const TOOL_OF_REQUEST: PromptTool = {
  name: 'request',
  description: null,
  schema: null,
  isStrict: null,
  cache: null,
}

/** The caller's form has words for all that its members can say: which endpoint answers is not known yet. */
function termsOf({ model }: PresetRequest): WriteTerms {
  return {
    upstreamModel: anyClaude(model),
    tokensMax: null,
    isStrict: false,
    isMaker: model.startsWith(`${MAKER}/`),
    signatureFormats: [],
    isOfPreset: true,
  }
}

interface Split {
  /** Fields that both forms have by one name, and that the form between does not carry. */
  readonly same: Members
  /** Fields that a reader takes. */
  readonly read: Members
}

function split(forms: Forms, config: Members, lost: Others): Split {
  const same: Record<string, unknown> = {}
  const read: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(config)) {
    if (name === 'tools') read[name] = readableTools(forms.from, value, lost)
    else if (isValid(forms.from, name, value) && isSame(forms, name)) same[name] = value
    else if (isValid(forms.from, name, value) && !OURS_NAMES.includes(name)) read[name] = value
    else if (!isDefaultValue(value, [[]])) lost.drop(name, [name])
  }
  return { same, read }
}

/** Members that would make the answer another one are not carried by their names alone. */
function isSame({ from, to }: Forms, name: string): boolean {
  if (isCarried(from.source, name) || REFUSED.includes(name)) return false
  return Object.hasOwn(to.kept, name) && otherField(from.source, name)?.class !== 'refused'
}

/** Readers rely on the schema of calls, which a preset of another version of Sluice need not meet. */
function isValid({ kept, body }: PresetForm, name: string, value: unknown): boolean {
  return Object.hasOwn(kept, name) && isFit(kept, name, value) && isFit(body, name, value)
}

/** @param shapes of members; one without a shape may have any value */
function isFit(shapes: PresetForm['body'], name: string, value: unknown): boolean {
  const shape = Object.hasOwn(shapes, name) ? shapes[name] : undefined
  return shape === undefined || fits(shape, value)
}

function readableTools(form: PresetForm, tools: unknown, lost: Others): readonly unknown[] {
  const all = Array.isArray(tools) ? (tools as readonly unknown[]) : [tools]
  const readable = all.filter((tool) => isValid(form, 'tools', [tool]))
  if (readable.length < all.length) lost.drop('tools', ['tools'])
  return readable
}

interface Field {
  readonly config: Members
  readonly name: string
  readonly value: unknown
}

/** Whether a call may have this value: the limits of the forms differ. */
function hasRoom({ from, to }: Forms, { config, name, value }: Field, lost: Others): boolean {
  if (isFit(to.body, name, value)) return true
  const rows = CARRIED.filter(({ names }) => names[to.source]?.includes(name))
  const names = rows.flatMap((row) => row.names[from.source] ?? []).filter((one) => one in config)
  for (const one of names.length === 0 ? [name] : names) lost.drop(one, [one])
  return false
}
