/** How nested objects of requests (turns, their parts, and tools) are handled. Continues the table of fields. */
import type { Dialect } from '../../schemas/inference/text-request.ts'
import type { TextProtocol } from '../../schemas/models/protocols.ts'

/** Places of objects with a type; `turns` are messages and items. */
export const NESTED_PLACES = ['turns', 'parts', 'tools'] as const
export type NestedPlace = (typeof NESTED_PLACES)[number]

/** An object of one type. Members that are not listed are dropped and reported. */
export interface NestedObject {
  readonly carried: readonly string[]
  /** Members that identify an object for the provider that made it and mean nothing to other providers. */
  readonly labels?: readonly string[]
  /** Members that clients send and no protocol can express. */
  readonly dropped?: readonly string[]
  /** Members that are refused, since without them the model would read something else. */
  readonly refused?: readonly string[]
  /** Protocols that cannot express such an object; it is refused there. */
  readonly lacking?: readonly TextProtocol[]
  /** As `lacking`, for strict providers, which accept only members of the protocol's maker. */
  readonly lackingStrict?: readonly TextProtocol[]
  /** Carried members that some protocols cannot express, with these protocols; the members are dropped there. */
  readonly lost?: Readonly<Record<string, readonly TextProtocol[]>>
  /** The object, or its members, that contain the model's reasoning; it is passed on only to a provider that accepts it back. */
  readonly reasoning?: 'whole' | readonly string[]
  /** Nested objects, by the member that contains them. */
  readonly inner?: Readonly<Record<string, NestedObject>>
}

/** Handling by the `role` or `type` of the objects. */
type NestedObjects = Readonly<Record<string, NestedObject | 'dropped' | 'refused'>>

/** Cache marks. Objects of the protocols in CACHE_LOST have no member for them. */
const CACHE = ['cache_control', 'prompt_cache_breakpoint']
const CACHE_LOST: readonly TextProtocol[] = ['responses', 'gemini']

/** Protocols that cannot express a medium. */
export const LACKING = {
  audio: ['responses', 'messages'],
  video: ['responses', 'messages'],
} as const satisfies Readonly<Record<string, readonly TextProtocol[]>>
/** In chat, providers other than OpenAI accept films. */
const VIDEO_LACKING = { lacking: LACKING.video, lackingStrict: ['chat'] } as const

function part(content: string, inner?: NestedObject): NestedObject {
  return { carried: ['type', ...CACHE, content], ...(inner !== undefined && { inner: { [content]: inner } }) }
}

const DETAIL_LOST = { detail: ['messages', 'gemini'] } as const
const FILENAME_LOST = { filename: ['gemini'] } as const
const STRICT_LOST = { strict: ['gemini'] } as const

const VIDEO: NestedObject = { carried: ['url'], dropped: ['processing'] }
const MESSAGE = ['role', 'content', 'cache_control']
const FUNCTION = ['type', 'name', 'description', 'strict', 'cache_control']
const ITEM = ['id', 'status']
const LATE = ['allowed_callers', 'defer_loading']
const SOURCE: NestedObject = { carried: ['type', 'media_type', 'data', 'url', 'file_id'] }

/** Objects that no other protocol has and without which the answer would change. */
function refused(names: string): NestedObjects {
  return Object.fromEntries(names.split(' ').map((name) => [name, 'refused']))
}

export const NESTED: Readonly<Record<Dialect, Readonly<Record<NestedPlace, NestedObjects>>>> = {
  chat: {
    turns: {
      system: { carried: MESSAGE, dropped: ['name', 'configuration_update'] },
      developer: { carried: MESSAGE, dropped: ['name', 'configuration_update'] },
      user: { carried: MESSAGE, dropped: ['name'] },
      assistant: {
        carried: [
          ...MESSAGE,
          ...['refusal', 'tool_calls', 'reasoning', 'reasoning_content', 'reasoning_details'],
        ],
        reasoning: ['reasoning', 'reasoning_content', 'reasoning_details'],
        dropped: ['name', 'images', 'model', 'annotations'],
        refused: ['audio', 'function_call'],
      },
      // The name of a result's tool is also in its call.
      tool: { carried: [...MESSAGE, 'tool_call_id'], labels: ['name'] },
      function: 'refused',
    },
    parts: {
      text: part('text'),
      refusal: part('refusal'),
      image_url: part('image_url', { carried: ['url', 'detail'], lost: DETAIL_LOST }),
      input_audio: { ...part('input_audio', { carried: ['data', 'format'] }), lacking: LACKING.audio },
      file: part('file', { carried: ['file_id', 'file_data', 'filename'], lost: FILENAME_LOST }),
      video_url: { ...part('video_url', VIDEO), ...VIDEO_LACKING },
      input_video: { ...part('video_url', VIDEO), ...VIDEO_LACKING },
    },
    tools: {
      function: {
        carried: ['type', 'function', ...CACHE],
        inner: { function: { carried: ['name', 'description', 'strict', 'parameters'], lost: STRICT_LOST } },
      },
      custom: {
        carried: ['type', 'custom', ...CACHE],
        inner: { custom: { carried: ['name', 'description', 'format'] } },
      },
      ...refused('web_search web_search_2025_08_26 web_search_preview web_search_preview_2025_03_11'),
    },
  },
  responses: {
    turns: {
      message: { carried: ['type', 'role', 'content'], labels: ITEM, dropped: ['phase'] },
      function_call: {
        carried: ['type', 'call_id', 'name', 'namespace', 'arguments'],
        labels: ITEM,
        // The last two are members of OpenRouter's items.
        dropped: ['async', 'caller', 'subagent_id', 'subagent_items'],
      },
      custom_tool_call: {
        carried: ['type', 'call_id', 'name', 'namespace', 'input'],
        labels: ITEM,
        dropped: ['async', 'caller'],
      },
      function_call_output: {
        carried: ['type', 'call_id', 'output'],
        labels: [...ITEM, 'name', 'namespace'],
        dropped: ['caller'],
      },
      custom_tool_call_output: {
        carried: ['type', 'call_id', 'output'],
        labels: [...ITEM, 'name', 'namespace'],
        dropped: ['caller'],
      },
      reasoning: {
        carried: ['type', 'id', 'summary', 'content', 'encrypted_content', 'format', 'signature'],
        labels: ['status'],
        reasoning: 'whole',
      },
      // Its tools are read with those of the request.
      additional_tools: { carried: ['type', 'role', 'tools'], labels: ITEM },
      // Searches by a provider: the model has read the results and repeats them in its text where they matter.
      web_search_call: 'dropped',
      tool_search_call: 'dropped',
      tool_search_output: 'dropped',
      // Types of reasoning parts; other types are refused.
      item_reference: 'dropped',
      ...refused(
        'agent_message apply_patch_call apply_patch_call_output code_interpreter_call compaction ' +
          'compaction_trigger computer_call computer_call_output configuration_update context_compaction file_search_call ' +
          'image_generation_call local_shell_call local_shell_call_output mcp_approval_request ' +
          'mcp_approval_response mcp_call mcp_list_tools program program_output shell_call shell_call_output',
      ),
    },
    parts: {
      input_text: part('text'),
      // Annotations and logprobs of a text are meaningful only to its provider.
      output_text: { ...part('text'), labels: ['logprobs'], dropped: ['annotations'] },
      refusal: part('refusal'),
      input_image: { carried: ['type', ...CACHE, 'image_url', 'file_id', 'detail'], lost: DETAIL_LOST },
      input_file: {
        carried: ['type', ...CACHE, 'file_data', 'file_url', 'file_id', 'filename'],
        dropped: ['detail'],
        lost: FILENAME_LOST,
      },
      input_audio: { ...part('input_audio', { carried: ['data', 'format'] }), lacking: LACKING.audio },
      input_video: { ...part('video_url'), dropped: ['processing'], ...VIDEO_LACKING },
    },
    tools: {
      function: {
        carried: [...FUNCTION, 'parameters'],
        dropped: [...LATE, 'async', 'output_schema'],
        lost: STRICT_LOST,
      },
      custom: { carried: ['type', 'name', 'description', 'format'], dropped: [...LATE, 'async'] },
      namespace: { carried: ['type', 'name', 'description', 'tools'] },
      ...refused(
        'apply_patch code_interpreter computer computer_use_preview file_search image_generation local_shell mcp ' +
          'programmatic_tool_calling shell tool_search web_search web_search_2025_08_26 web_search_preview ' +
          'web_search_preview_2025_03_11',
      ),
    },
  },
  messages: {
    turns: {
      user: { carried: ['role', 'content'] },
      assistant: { carried: ['role', 'content'] },
      system: { carried: ['role', 'content'], dropped: ['clear_at', 'output_config'] },
    },
    parts: {
      text: { carried: ['type', 'text', 'cache_control'], dropped: ['citations'] },
      image: {
        carried: ['type', 'source', 'cache_control'],
        dropped: ['transformations'],
        inner: { source: SOURCE },
      },
      document: {
        carried: ['type', 'source', 'title', 'cache_control'],
        dropped: ['context'],
        refused: ['citations'],
        lost: { title: ['gemini'] },
        inner: { source: { carried: [...SOURCE.carried, 'content'] } },
      },
      tool_result: {
        carried: ['type', 'tool_use_id', 'content', 'is_error', 'cache_control'],
        dropped: ['toolset_name'],
      },
      tool_use: {
        carried: ['type', 'id', 'name', 'input', 'cache_control'],
        labels: ['caller'],
        dropped: ['toolset_name'],
      },
      thinking: { carried: ['type', 'thinking', 'signature'], reasoning: 'whole' },
      redacted_thinking: { carried: ['type', 'data'], reasoning: 'whole' },
      ...refused(
        'advisor_tool_result bash_code_execution_tool_result code_execution_tool_result compaction ' +
          'container_upload fallback mcp_tool_listing mcp_tool_result mcp_tool_use search_result server_tool_use ' +
          'text_editor_code_execution_tool_result tool_addition tool_removal tool_search_tool_result ' +
          'web_fetch_tool_result web_search_tool_result',
      ),
    },
    tools: {
      custom: {
        carried: [...FUNCTION, 'input_schema'],
        dropped: [...LATE, 'eager_input_streaming', 'input_examples'],
        lost: STRICT_LOST,
      },
      ...refused(
        'advisor_20260301 bash_20241022 bash_20250124 browser_toolset_20260801 code_execution_20250522 ' +
          'code_execution_20250825 code_execution_20260120 code_execution_20260521 computer_20241022 ' +
          'computer_20250124 computer_20251124 computer_toolset_20260801 mcp_toolset memory_20250818 ' +
          'text_editor_20241022 text_editor_20250124 text_editor_20250429 text_editor_20250728 ' +
          'tool_search_tool_bm25 tool_search_tool_bm25_20251119 tool_search_tool_regex ' +
          'tool_search_tool_regex_20251119 web_fetch_20250910 web_fetch_20260209 web_fetch_20260309 ' +
          'web_fetch_20260318 web_search_20250305 web_search_20260209 web_search_20260318',
      ),
    },
  },
}

/** The name under which dropped provider searches are reported. */
export const WEB_SEARCH = 'web_search'
export const TOOL_SEARCH = 'tool_search'

/** A tool that a client offers with each call, as Codex does. */
export interface Offer {
  /** The member and value that mark an offer; value absent: any boolean. */
  readonly member: string
  readonly value?: string
  readonly condition: string
}

/**
 * Tools of responses that are dropped when they are only such an offer, and refused when the caller really
 * requests them. Without them a model answers with its own knowledge and the other tools.
 */
const OFFERS: Readonly<Record<string, Offer>> = {
  // This member says whether the search reads live pages.
  [WEB_SEARCH]: { member: 'external_web_access', condition: 'with `external_web_access`' },
  // It finds tools that the client has but does not send.
  [TOOL_SEARCH]: { member: 'execution', value: 'client', condition: 'with `execution: "client"`' },
}

/** Null: a tool that is never a mere offer. */
export function offerOf(type: unknown): Offer | null {
  return typeof type === 'string' && Object.hasOwn(OFFERS, type) ? (OFFERS[type] ?? null) : null
}

/** The protocols that cannot express a carried member. */
export function lostAt({ lost = {} }: NestedObject, name: string): readonly TextProtocol[] {
  if (CACHE.includes(name)) return CACHE_LOST
  return Object.hasOwn(lost, name) ? (lost[name] ?? []) : []
}

/** The carried members that some protocol cannot express. */
export function lostMembers({ carried, lost = {} }: NestedObject): readonly string[] {
  return carried.filter((name) => CACHE.includes(name) || Object.hasOwn(lost, name))
}

/** The members that a reader uses or ignores without a report. @param inner member that contains the object */
export function usedMembers(
  dialect: Dialect,
  place: NestedPlace,
  { type, inner }: { readonly type: string; readonly inner?: string },
): ReadonlySet<string> {
  const outer = nestedObject(dialect, place, type)
  const object = inner === undefined ? outer : outer?.inner?.[inner]
  if (object === undefined) throw new Error(`the table has no ${place} ${type} of ${dialect}`)
  const { carried, labels = [], refused = [] } = object
  return new Set([...carried, ...labels, ...refused])
}

/** Undefined: the dialect has no such object. */
function nestedObject(dialect: Dialect, place: NestedPlace, type: string): NestedObject | undefined {
  const object = Object.hasOwn(NESTED[dialect][place], type) ? NESTED[dialect][place][type] : undefined
  return typeof object === 'object' ? object : undefined
}
