/** The parts of WebAssembly's interface that are used here; Node's types lack them. */
declare const WebAssembly: {
  readonly Module: new (code: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: Readonly<Record<string, unknown>> }
}

export type CodeExports = Readonly<Record<string, unknown>>

/**
 * @returns the exports of a new instance; null when the processor, or a flag of Node, lacks what the code
 * needs, such as vectors of 16 bytes
 */
export function exportsOf(code: Uint8Array): CodeExports | null {
  try {
    return new WebAssembly.Instance(new WebAssembly.Module(code)).exports
  } catch {
    return null
  }
}
