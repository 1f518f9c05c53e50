/** The mark of the installation in a place that its nodes share. Both reject when the place is away. */
export interface PlaceMark {
  /** Null: the place has no mark. */
  read(): Promise<string | null>
  write(mark: string): Promise<void>
}

export interface SharedPlaces {
  readonly redis: 'outside' | 'embedded'
  /** Null: not known, since the place could not be marked. */
  readonly objects: 'bucket' | 'folder' | null
}

export interface Installation {
  /** Random text that only this installation has. */
  readonly mark: string
  /** Null: no node has reported its places. */
  readonly redis: SharedPlaces['redis'] | null
  readonly objects: SharedPlaces['objects']
  /** Another node lives: a front of it sends heartbeats, or it joined a moment ago. */
  readonly isShared: boolean
  /** Joins so far, to notice one in between. */
  readonly joins: string
}
