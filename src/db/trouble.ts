/** What keeps a database from doing what it was asked, as far as that is no fault of ours. */
export type Trouble =
  /** Another is writing: the same may work in a moment. */
  | 'locked'
  | 'read_only'
  /** What was written could not be kept. */
  | 'disk_full'
  | 'damaged'
  /** The file cannot be opened. */
  | 'not_opened'
  /** The server does not answer, or takes nobody more; it comes back by itself. */
  | 'unreachable'
  /** The library was removed while it was open. */
  | 'removed'
  /** The server does not let us in, or keeps from us what we need: for whoever set it up. */
  | 'refused'
