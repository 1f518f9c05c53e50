import { useRef } from 'preact/hooks'

/**
 * A heading, which needs `tabIndex: -1`, that gets the focus when the row that had it disappears. It waits
 * until a closing dialog has returned the focus.
 */
export function useFocusedHeading(): { readonly ref: { current: HTMLHeadingElement | null }; focus(): void } {
  const ref = useRef<HTMLHeadingElement | null>(null)
  return { ref, focus: () => void setTimeout(() => ref.current?.focus(), 0) }
}
