/** The mark of the installation in a place that its nodes share. Both methods reject when the place is unavailable. */
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
  /** Random text that identifies this installation. */
  readonly mark: string
  /** Null: no node has reported its places. */
  readonly redis: SharedPlaces['redis'] | null
  readonly objects: SharedPlaces['objects']
  /** Another node is alive: one of its fronts sends heartbeats, or it has just joined. */
  readonly isShared: boolean
  /** Number of joins so far, by which a join in between is detected. */
  readonly joins: string
}
