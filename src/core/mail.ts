/** One letter of ours: plain text, to one person. */
export interface Letter {
  /** An e-mail address and nothing else. */
  to: string
  subject: string
  text: string
}

/** Brings letters on their way. */
export interface Mail {
  /** Resolves once the mail server has taken the letter. Throws `unavailable`. */
  send(letter: Letter): Promise<void>
  close(): Promise<void>
}
