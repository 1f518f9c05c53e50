import type { Test } from 'tap'
import type { BodyName } from '../../../src/schemas/bodies.ts'
import type { KeptRequest } from '../../../src/schemas/presets/preset-input.ts'
import { readBody } from '../../../src/workers/read-body.ts'

/**
 * What becomes of a field: values that are kept, kept otherwise than they were sent, taken and not kept,
 * refused at a path.
 */
export interface FieldRow {
  readonly kept?: readonly unknown[]
  readonly keptAs?: readonly (readonly [unknown, unknown])[]
  readonly ignored?: readonly unknown[]
  /** Neither kept nor reported as ignored. */
  readonly silent?: readonly unknown[]
  readonly refused?: readonly (readonly [unknown, string])[]
}

export interface FieldTable {
  readonly body: BodyName
  /** What every body of the form needs. */
  readonly needs: Readonly<Record<string, unknown>>
  readonly rows: Readonly<Record<string, FieldRow>>
}

export type Read =
  { readonly input: KeptRequest } | { readonly failure: string; readonly paths: readonly string[] }

/** What a body comes to, where bodies are checked. */
export function readPreset(body: BodyName, value: unknown): Read {
  const bytes = new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value))
  const verdict = readBody({ body, bytes: new Uint8Array(bytes) })
  if (verdict.ok) return { input: verdict.value as unknown as KeptRequest }
  return {
    failure: verdict.failure.name,
    paths: (verdict.failure.metadata?.issues ?? []).map(({ path }) => path),
  }
}

/** One test a field. */
export function testFields(t: Test, { body, needs, rows }: FieldTable): void {
  for (const [name, row] of Object.entries(rows)) {
    void t.test(`${body}: ${name}`, async (t) => {
      const read = (value: unknown) => readPreset(body, { ...needs, [name]: value })
      const standing = ignoredOf(readPreset(body, needs)).filter((each) => each !== name)
      for (const [sent, kept] of [
        ...(row.kept ?? []).map((value) => [value, value] as const),
        ...(row.keptAs ?? []),
      ]) {
        t.same(
          read(sent),
          { input: { ...inputOf(readPreset(body, needs)), config: { [name]: kept } } },
          `kept: ${shown(sent)}`,
        )
      }
      for (const sent of row.ignored ?? []) {
        t.same(
          read(sent),
          { input: { ...inputOf(readPreset(body, needs)), config: {}, ignored: [...standing, name].sort() } },
          `ignored: ${shown(sent)}`,
        )
      }
      for (const sent of row.silent ?? []) t.same(ignoredOf(read(sent)), standing, `silent: ${shown(sent)}`)
      for (const [sent, path] of row.refused ?? [])
        t.same(read(sent), { failure: 'body_invalid', paths: [path] }, `refused: ${shown(sent)}`)
    })
  }
}

function inputOf(read: Read): KeptRequest {
  if (!('input' in read)) throw new Error(`refused: ${read.paths.join()}`)
  return read.input
}

function ignoredOf(read: Read): readonly string[] {
  return inputOf(read).ignored
}

function shown(value: unknown): string {
  return JSON.stringify(value).slice(0, 100)
}

/** Rows of fields that every form has. */
export const COMMON_ROWS: Readonly<Record<string, FieldRow>> = {
  model: {
    kept: ['acme/text', '~acme/latest'],
    silent: [null],
    refused: [
      [5, '/model'],
      ['', '/model'],
    ],
  },
  models: {
    kept: [['a/b', 'c/d'], []],
    refused: [
      ['a/b', '/models'],
      [[1], '/models/0'],
    ],
  },
  temperature: {
    kept: [0, 0.7, 2],
    silent: [null],
    refused: [
      ['0.7', '/temperature'],
      [true, '/temperature'],
    ],
  },
  top_p: { kept: [0.5], silent: [null], refused: [['x', '/top_p']] },
  top_k: {
    kept: [40, 0],
    refused: [
      [1.5, '/top_k'],
      ['40', '/top_k'],
    ],
  },
  stop_server_tools_when: {
    kept: [
      [
        { type: 'step_count_is', step_count: 5 },
        { type: 'has_tool_call', tool_name: 'search' },
      ],
      [{ type: 'max_tokens_used', max_tokens: 9 }],
      [{ type: 'max_cost', max_cost_in_dollars: 0.5 }],
      [{ type: 'finish_reason_is', reason: 'stop' }],
    ],
    keptAs: [
      [[{ type: 'step_count_is', step_count: 5, more: 1 }], [{ type: 'step_count_is', step_count: 5 }]],
    ],
    refused: [
      [[], '/stop_server_tools_when'],
      [{}, '/stop_server_tools_when'],
      [[{ type: 'other' }], '/stop_server_tools_when/0/type'],
      [[{ type: 'step_count_is' }], '/stop_server_tools_when/0/step_count'],
      [[{ type: 'step_count_is', step_count: 1.5 }], '/stop_server_tools_when/0/step_count'],
      [[{ type: 'has_tool_call', tool_name: '' }], '/stop_server_tools_when/0/tool_name'],
      [[{ type: 'max_tokens_used', max_tokens: '9' }], '/stop_server_tools_when/0/max_tokens'],
      [[{ type: 'max_cost', max_cost_in_dollars: '1' }], '/stop_server_tools_when/0/max_cost_in_dollars'],
      [[{ type: 'finish_reason_is', reason: '' }], '/stop_server_tools_when/0/reason'],
    ],
  },
  plugins: {
    kept: [
      [{ id: 'web', max_results: 3 }, { id: 'auto-router' }],
      [
        'auto-beta-router',
        'context-compression',
        'file-parser',
        'fusion',
        'moderation',
        'pareto-router',
        'response-healing',
        'switchyard-router',
        'web-fetch',
      ].map((id) => ({ id })),
    ],
    refused: [
      ['web', '/plugins'],
      [[{ id: 'other' }], '/plugins/0/id'],
      [[{}], '/plugins/0/id'],
      [[5], '/plugins/0'],
    ],
  },
  provider: {
    kept: [{ zdr: true, order: ['acme'], max_price: { prompt: '1' } }, {}],
    silent: [null],
    refused: [
      [{ zrd: true }, '/provider/zrd'],
      [{ order: [5] }, '/provider/order/0'],
      ['acme', '/provider'],
      [{ sort: 'best' }, '/provider/sort'],
    ],
  },
  route: {
    kept: ['fallback', 'sort'],
    silent: [null],
    refused: [
      ['other', '/route'],
      [5, '/route'],
    ],
  },
  cache_control: {
    kept: [{ type: 'ephemeral' }, { type: 'ephemeral', ttl: '1h' }],
    keptAs: [[{ type: 'ephemeral', more: 1 }, { type: 'ephemeral' }]],
    refused: [
      [{ type: 'other' }, '/cache_control/type'],
      [{ type: 'ephemeral', ttl: '2h' }, '/cache_control/ttl'],
      [{}, '/cache_control/type'],
    ],
  },
  stream: { ignored: [true], silent: [false], refused: [['yes', '/stream']] },
  session_id: {
    ignored: ['s', '😀'.repeat(256)],
    refused: [
      ['a'.repeat(257), '/session_id'],
      [5, '/session_id'],
      ['😀'.repeat(257), '/session_id'],
    ],
  },
  user: {
    ignored: ['u', '😀'.repeat(256)],
    refused: [
      ['a'.repeat(257), '/user'],
      [5, '/user'],
    ],
  },
  trace: {
    ignored: [{}, { trace_id: 't', other: 5 }],
    refused: [
      [{ trace_id: 5 }, '/trace/trace_id'],
      ['t', '/trace'],
    ],
  },
  debug: {
    ignored: [{}, { echo_upstream_body: true }],
    refused: [
      [{ echo_upstream_body: 1 }, '/debug/echo_upstream_body'],
      [true, '/debug'],
    ],
  },
  prompt_cache_key: { ignored: ['k'], silent: [null], refused: [[5, '/prompt_cache_key']] },
  safety_identifier: { ignored: ['s'], silent: [null], refused: [[5, '/safety_identifier']] },
  temperatur: { ignored: [0.5, 'x', { deep: [1] }], silent: [null] },
}

const figures: FieldRow = { kept: [0, -1.5, 2], silent: [null] }

/** Rows of fields that both forms of OpenAI's have. */
export const OPENAI_ROWS: Readonly<Record<string, FieldRow>> = {
  ...COMMON_ROWS,
  presence_penalty: { ...figures, refused: [['1', '/presence_penalty']] },
  frequency_penalty: { ...figures, refused: [[[], '/frequency_penalty']] },
  top_logprobs: {
    kept: [5],
    silent: [null],
    refused: [
      [0.5, '/top_logprobs'],
      ['5', '/top_logprobs'],
    ],
  },
  max_tool_calls: {
    kept: [1, 30],
    silent: [null],
    refused: [
      [31, '/max_tool_calls'],
      [1.5, '/max_tool_calls'],
      ['1', '/max_tool_calls'],
    ],
  },
  parallel_tool_calls: { kept: [true, false], silent: [null], refused: [['true', '/parallel_tool_calls']] },
  metadata: {
    kept: [
      {},
      { a: 'b' },
      { ['😀'.repeat(64)]: '😀'.repeat(512) },
      Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`k${i}`, 'v'])),
    ],
    silent: [null],
    refused: [
      [{ a: 5 }, '/metadata/a'],
      [{ a: null }, '/metadata/a'],
      ['x', '/metadata'],
      [{ a: 'x'.repeat(513) }, '/metadata/a'],
      [{ 'a[0]': 'x' }, '/metadata/a[0]'],
      [{ 'a]': 'x' }, '/metadata/a]'],
      [{ ['k'.repeat(65)]: 'x' }, `/metadata/${'k'.repeat(64)}…`],
      [Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, 'v'])), '/metadata'],
    ],
  },
  image_config: {
    kept: [{ size: '2K', quality: 3, palette: ['#fff', 1, { x: 1 }] }, {}],
    refused: [
      [{ a: true }, '/image_config/a'],
      [{ a: {} }, '/image_config/a'],
      ['x', '/image_config'],
    ],
  },
  service_tier: {
    kept: ['default', 'flex', 'priority', 'scale', 'ultrafast'],
    keptAs: [['fast', 'priority']],
    silent: ['auto', null],
    refused: [
      ['fastest', '/service_tier'],
      [5, '/service_tier'],
    ],
  },
  prompt_cache_options: {
    kept: [{ mode: 'explicit' }, { mode: 'explicit', ttl: '1h' }, { mode: 'explicit', ttl: null }],
    silent: [null],
    refused: [
      [{ mode: 'other' }, '/prompt_cache_options/mode'],
      [{}, '/prompt_cache_options/mode'],
      [{ mode: 'explicit', ttl: 5 }, '/prompt_cache_options/ttl'],
    ],
  },
}
