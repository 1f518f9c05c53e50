/** What the page uses of preact, until its own types stand beside the compiler. */
declare module 'preact' {
  export interface VNode { readonly type: unknown; readonly props: unknown; readonly key: unknown }
  export type ComponentChild = VNode | object | string | number | bigint | boolean | null | undefined
  export type ComponentChildren = ComponentChild[] | ComponentChild
  export type Attributes = { readonly key?: string | number | undefined }
  export function h(type: string, props: Readonly<Record<string, unknown>> | null, ...children: ComponentChildren[]): VNode
  export function h<P>(type: (props: P) => VNode | null, props: (Attributes & P) | null, ...children: ComponentChildren[]): VNode
  export function render(node: VNode, parent: Element): void
  export const Fragment: (props: { readonly children?: ComponentChildren }) => VNode | null
}
declare module 'preact/hooks' {
  export interface MutableRef<T> { current: T }
  export function useState<T>(initial: T | (() => T)): [T, (next: T | ((previous: T) => T)) => void]
  export function useRef<T>(initial: T): MutableRef<T>
  export function useEffect(effect: () => void | (() => void), inputs?: readonly unknown[]): void
  export function useLayoutEffect(effect: () => void | (() => void), inputs?: readonly unknown[]): void
  export function useMemo<T>(make: () => T, inputs: readonly unknown[]): T
  export function useCallback<T extends (...args: never[]) => unknown>(callback: T, inputs: readonly unknown[]): T
  export function useId(): string
  export function useErrorBoundary(): [unknown, () => void]
}
